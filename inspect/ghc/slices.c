/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/reach.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"

#define FIELDS_MOST 5u
#define PART        2u /* arrays of which less than one part in so many is used */

enum role {
        ROLE_OTHER,
        ROLE_BYTES, /* ForeignPtrContents, Addr#, (Int# offset,) Int# length; of a chunk also a pointer to the next */
        ROLE_TEXT,  /* ByteArray#, Int# offset, Int# length; likewise */
        ROLE_CONTENTS,
        ROLE_ARRAY,
};

struct slice {
        uint32_t array; /* its node */
        uint8_t role;
        uint64_t bytes;    /* of the array's contents, */
        uint64_t from, to; /* and which of them it uses */
};

struct finding {
        struct heap_graph *graph;
        const struct heap_snapshot *s;
        uint8_t *roles;  /* of each type */
        bool *has_other; /* of each node: what is no slice holds it, or one that was not understood */
        struct slice *slices;
        size_t n_slices, capacity;
        bool out_of_memory;
};

static bool is_named(const char *name, const char *plain)
{
        const size_t n = strlen(plain);

        name = name_without_package(name);
        return !strncmp(name, plain, n) && (name[n] == '\0' || name[n] == ' ');
}

/* GHC's own modules have moved: "GHC.ForeignPtr.PlainPtr", "GHC.Internal.ForeignPtr.PlainPtr". */
static enum role role_of(const struct graph_type *t)
{
        static const struct {
                const char *name;
                enum role role;
        } known[] = {
                { "Data.ByteString.Internal.PS", ROLE_BYTES },
                { "Data.ByteString.Internal.BS", ROLE_BYTES },
                { "Data.ByteString.Internal.Type.BS", ROLE_BYTES },
                { "Data.ByteString.Lazy.Internal.Chunk", ROLE_BYTES },
                { "Data.Text.Internal.Text", ROLE_TEXT },
                { "Data.Text.Internal.Lazy.Chunk", ROLE_TEXT },
                { "GHC.ForeignPtr.PlainPtr", ROLE_CONTENTS },
                { "GHC.ForeignPtr.MallocPtr", ROLE_CONTENTS },
                { "GHC.Internal.ForeignPtr.PlainPtr", ROLE_CONTENTS },
                { "GHC.Internal.ForeignPtr.MallocPtr", ROLE_CONTENTS },
        };

        if (t->kind != GRAPH_CLOSURE)
                return ROLE_OTHER;
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (is_named(t->name, known[i].name))
                        return known[i].role;
        return !strcmp(t->by_type, closure_type_name(ARR_WORDS)) ? ROLE_ARRAY : ROLE_OTHER;
}

static uint64_t payload_of(const struct finding *f, uint64_t at)
{
        return at + 8 * (uint64_t)f->s->ghc->header_words;
}

static enum role role_at(const struct finding *f, uint32_t node)
{
        return f->roles[heap_graph_type_number(f->graph, node)];
}

/* Where the first of a role is that a closure leads to; 0: none. */
static uint64_t find_below(const struct finding *f, uint64_t at, enum role role)
{
        const struct closure_table *t = snapshot_table(f->s, at);

        for (uint64_t i = 0; i < t->pointers && i < FIELDS_MOST; i++) {
                const uint64_t to = snapshot_word(f->s, payload_of(f, at) + 8 * i) & ~UINT64_C(7);
                const uint32_t node = reach_node(f->s, to);
                if (node != UINT32_MAX && role_at(f, node) == role)
                        return to;
        }
        return 0;
}

static bool may_hold(enum role holder, enum role held)
{
        return held == ROLE_ARRAY      ? holder == ROLE_CONTENTS || holder == ROLE_TEXT
               : held == ROLE_CONTENTS ? holder == ROLE_BYTES
                                       : true;
}

/* What else holds an array, or that by which ByteStrings do. */
static void find_others(struct finding *f)
{
        const struct heap_graph *g = f->graph;

        for (uint32_t i = 0; i < g->n_nodes; i++)
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++)
                        if (heap_graph_type_of(g, i)->kind != GRAPH_DOUBTFUL_ROOT &&
                            !may_hold(role_at(f, i), role_at(f, g->edges[e])))
                                f->has_other[g->edges[e]] = true;
}

/* The part of an array's contents that a closure uses. False: it is not what it was taken for. */
static bool read_slice(const struct finding *f, const struct closure_table *t, uint64_t at, uint64_t array,
                       struct slice *ret)
{
        const uint64_t n = snapshot_word(f->s, payload_of(f, array)), contents = payload_of(f, array) + 8;
        const enum role role = role_at(f, reach_node(f->s, at));
        uint64_t fields[FIELDS_MOST];

        if (t->pointers < 1 || t->pointers > 2 || t->others < 2 || t->pointers + t->others > FIELDS_MOST)
                return false;
        for (uint32_t i = 0; i < t->others; i++)
                fields[i] = snapshot_word(f->s, payload_of(f, at) + 8 * (uint64_t)(t->pointers + i));
        const bool is_text = role == ROLE_TEXT;
        /* text 1 has UTF-16 */
        const uint64_t unit = is_text && t->name && !strncmp(t->name, "text-1.", 7) ? 2 : 1;
        const uint64_t length = fields[t->others - 1];
        const uint64_t from = is_text ? fields[0] : fields[0] + (t->others == 3 ? fields[1] : 0) - contents;

        if (is_text && t->others != 2)
                return false;
        if (from > n / unit || length > n / unit - from)
                return false;
        *ret = (struct slice){ reach_node(f->s, array), (uint8_t)role, n, unit * from, unit * (from + length) };
        return true;
}

/* Of a slice; or of that by which ByteStrings hold an array, if something else holds it. */
static void see_closure(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct finding *f = ctx;
        const uint32_t node = reach_node(f->s, at);
        const enum role role = node != UINT32_MAX ? role_at(f, node) : ROLE_OTHER;
        const bool is_slice = role == ROLE_BYTES || role == ROLE_TEXT;

        if (!is_slice && (role != ROLE_CONTENTS || !f->has_other[node]))
                return;
        const uint64_t contents = role == ROLE_BYTES ? find_below(f, at, ROLE_CONTENTS) : at;
        const uint64_t array = contents ? find_below(f, contents, ROLE_ARRAY) : 0;
        if (!array)
                return; /* memory of C, or a literal */
        if (!ARRAY_RESERVE(f->slices, f->capacity, f->n_slices + 1))
                f->out_of_memory = true;
        else if (is_slice && read_slice(f, t, at, array, &f->slices[f->n_slices]))
                f->n_slices++;
        else
                f->has_other[reach_node(f->s, array)] = true;
}

static int by_array(const void *va, const void *vb)
{
        const struct slice *a = va, *b = vb;

        if (a->array != b->array)
                return a->array < b->array ? -1 : 1;
        return (a->from > b->from) - (a->from < b->from);
}

bool slices_find(struct heap_graph *g, const struct heap_snapshot *s)
{
        struct finding f = { .graph = g,
                             .s = s,
                             .roles = calloc((size_t)g->n_types + 1, sizeof(*f.roles)),
                             .has_other = calloc((size_t)g->n_nodes + 1, sizeof(*f.has_other)) };
        bool has_slices = false;
        struct group_rest unused = { 0 };

        f.out_of_memory = !f.roles || !f.has_other;
        for (uint32_t i = 0; !f.out_of_memory && i < g->n_types; i++) {
                f.roles[i] = (uint8_t)role_of(&g->types[i]);
                has_slices |= f.roles[i] == ROLE_BYTES || f.roles[i] == ROLE_TEXT;
        }
        if (has_slices)
                find_others(&f);
        for (size_t i = 0; has_slices && i < s->n_groups && !f.out_of_memory; i++)
                if (s->groups[i].kind != GROUP_OTHER)
                        group_each(s, &s->groups[i], see_closure, &f, &unused);
        /* Of each array what its slices use together: in the order of where they begin. */
        ARRAY_SORT(f.slices, f.n_slices, by_array);
        for (size_t j = 0, k; j < f.n_slices; j = k) {
                const struct slice *first = &f.slices[j];
                uint64_t used = 0, up_to = 0;
                for (k = j; k < f.n_slices && f.slices[k].array == first->array; k++) {
                        const uint64_t from = f.slices[k].from > up_to ? f.slices[k].from : up_to;
                        used += f.slices[k].to > from ? f.slices[k].to - from : 0;
                        up_to = f.slices[k].to > up_to ? f.slices[k].to : up_to;
                }
                if (f.has_other[first->array] || used >= first->bytes / PART)
                        continue;
                struct graph_slices *to = &f.graph->slices[first->role == ROLE_TEXT ? SLICES_OF_TEXT : SLICES_OF_BYTES];
                to->slices += k - j;
                to->arrays++;
                to->array_bytes += first->bytes;
                to->used_bytes += used;
        }
        g->arrays_known = !f.out_of_memory;
        free(f.slices);
        free(f.has_other);
        free(f.roles);
        return g->arrays_known;
}
