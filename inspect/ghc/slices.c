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
        uint32_t array;    /* its node */
        uint8_t role;      /* of what uses it; ROLE_OTHER: that was not understood */
        uint64_t bytes;    /* of the array's contents, */
        uint64_t from, to; /* and which of them it uses */
};

struct slices {
        struct graph_types *types;
        const struct heap_snapshot *s;
        uint8_t *roles; /* of each type */
        uint32_t n_roles;
        struct slice *slices;
        size_t n_slices, capacity;
        bool *has_other; /* of each node: what is no slice holds it, or one that was not understood */
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

static uint64_t payload_of(const struct slices *f, uint64_t at)
{
        return at + 8 * (uint64_t)f->s->ghc->header_words;
}

static enum role role_of_type(const struct slices *f, uint32_t type)
{
        return type < f->n_roles ? f->roles[type] : ROLE_OTHER;
}

/* Of a closure that is reached; else ROLE_OTHER. */
static enum role role_at(const struct slices *f, uint64_t at)
{
        const struct closure_table *t = snapshot_table(f->s, at);

        return t && reach_node(f->s, at) != UINT32_MAX ? role_of_type(f, graph_type_of_closure(f->types, t))
                                                       : ROLE_OTHER;
}

/* Where the first of a role is that a closure leads to; 0: none. */
static uint64_t find_below(const struct slices *f, uint64_t at, enum role role)
{
        const struct closure_table *t = snapshot_table(f->s, at);

        for (uint64_t i = 0; i < t->pointers && i < FIELDS_MOST; i++) {
                const uint64_t to = snapshot_word(f->s, payload_of(f, at) + 8 * i) & ~UINT64_C(7);
                if (role_at(f, to) == role)
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

/* The part of an array's contents that a closure uses. False: it is not what it was taken for. */
static bool read_slice(const struct slices *f, const struct closure_table *t, uint64_t at, uint64_t array,
                       struct slice *ret)
{
        const uint64_t n = snapshot_word(f->s, payload_of(f, array)), contents = payload_of(f, array) + 8;
        const enum role role = role_at(f, at);
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

static void see_closure(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct slices *f = ctx;
        const enum role role = role_of_type(f, graph_type_of_closure(f->types, t));

        if ((role != ROLE_BYTES && role != ROLE_TEXT) || reach_node(f->s, at) == UINT32_MAX)
                return;
        const uint64_t contents = role == ROLE_BYTES ? find_below(f, at, ROLE_CONTENTS) : at;
        const uint64_t array = contents ? find_below(f, contents, ROLE_ARRAY) : 0;
        if (!array)
                return; /* memory of C, or a literal */
        if (!ARRAY_RESERVE(f->slices, f->capacity, f->n_slices + 1)) {
                f->out_of_memory = true;
                return;
        }
        if (!read_slice(f, t, at, array, &f->slices[f->n_slices]))
                f->slices[f->n_slices] = (struct slice){ .array = reach_node(f->s, array), .role = ROLE_OTHER };
        f->n_slices++;
}

struct slices *slices_read(struct graph_types *types, const struct heap_snapshot *s)
{
        struct slices *f = calloc(1, sizeof(*f));
        const uint32_t n = types->graph->n_types;
        struct group_rest unused = { 0 };
        bool has_slices = false;

        if (!f)
                return NULL;
        *f = (struct slices){ .types = types, .s = s, .roles = calloc((size_t)n + 1, sizeof(*f->roles)) };
        f->out_of_memory = !f->roles;
        for (uint32_t i = 0; f->roles && i < n; i++) {
                f->roles[f->n_roles++] = (uint8_t)role_of(&types->graph->types[i]);
                has_slices |= f->roles[i] == ROLE_BYTES || f->roles[i] == ROLE_TEXT;
        }
        for (size_t i = 0; has_slices && i < s->n_groups && !f->out_of_memory; i++)
                if (s->groups[i].kind != GROUP_OTHER)
                        group_each(s, &s->groups[i], see_closure, f, &unused);
        return f;
}

void slices_done(struct slices *f)
{
        if (!f)
                return;
        free(f->slices);
        free(f->has_other);
        free(f->roles);
        free(f);
}

/* ---------------------------------------------------------------------------- sums */

static enum role role_of_node(const struct slices *f, uint32_t node)
{
        return role_of_type(f, heap_graph_type_number(f->types->graph, node));
}

/* What else holds an array, or that by which ByteStrings do. */
static void find_others(struct slices *f)
{
        const struct heap_graph *g = f->types->graph;

        for (size_t i = 0; i < f->n_slices; i++)
                f->has_other[f->slices[i].array] = f->slices[i].role == ROLE_OTHER || f->has_other[f->slices[i].array];
        for (uint32_t i = 0; i < g->n_nodes; i++)
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++)
                        if (heap_graph_type_of(g, i)->kind != GRAPH_DOUBTFUL_ROOT &&
                            !may_hold(role_of_node(f, i), role_of_node(f, g->edges[e])))
                                f->has_other[g->edges[e]] = true;
        /* what else has that has the array, too */
        for (uint32_t i = 0; i < g->n_nodes; i++)
                if (f->has_other[i] && role_of_node(f, i) == ROLE_CONTENTS)
                        for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++)
                                f->has_other[g->edges[e]] = true;
}

static int by_array(const void *va, const void *vb)
{
        const struct slice *a = va, *b = vb;

        if (a->array != b->array)
                return a->array < b->array ? -1 : 1;
        return (a->from > b->from) - (a->from < b->from);
}

bool slices_sum(struct slices *f, struct heap_graph *g)
{
        if (f->out_of_memory || g->out_of_memory ||
            !(f->has_other = calloc((size_t)g->n_nodes + 1, sizeof(*f->has_other))))
                return false;
        if (f->n_slices > 0)
                find_others(f);
        /* Of each array what its slices use together: in the order of where they begin. */
        ARRAY_SORT(f->slices, f->n_slices, by_array);
        for (size_t j = 0, k; j < f->n_slices; j = k) {
                const struct slice *first = &f->slices[j];
                uint64_t used = 0, up_to = 0;
                for (k = j; k < f->n_slices && f->slices[k].array == first->array; k++) {
                        const uint64_t from = f->slices[k].from > up_to ? f->slices[k].from : up_to;
                        used += f->slices[k].to > from ? f->slices[k].to - from : 0;
                        up_to = f->slices[k].to > up_to ? f->slices[k].to : up_to;
                }
                if (f->has_other[first->array] || used >= first->bytes / PART)
                        continue;
                struct graph_slices *to = &g->slices[first->role == ROLE_TEXT ? SLICES_OF_TEXT : SLICES_OF_BYTES];
                to->slices += k - j;
                to->arrays++;
                to->array_bytes += first->bytes;
                to->used_bytes += used;
        }
        g->arrays_known = true;
        return true;
}
