/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/census.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/text_out.h"

/* Types that are two or more in the runtime, by what was done to them last; and what they are in Haskell. */
static const char *other_name(unsigned type)
{
        switch (type) {
        case ARR_WORDS:
                return "ARR_WORDS (ByteArray#)";
        case MVAR_CLEAN:
        case MVAR_DIRTY:
                return "MVAR";
        case MUT_VAR_CLEAN:
        case MUT_VAR_DIRTY:
                return "MUT_VAR (IORef, STRef)";
        case TSO:
                return "TSO (thread)";
        case STACK:
                return "STACK (of a thread)";
        default:
                if (closure_is_array(type))
                        return "MUT_ARR_PTRS (Array#)";
                if (closure_is_small_array(type))
                        return "SMALL_MUT_ARR_PTRS (SmallArray#)";
                return closure_type_name(type);
        }
}

/* "Main.main.sessions (thunk :: [Session], Main.hs:31:19-54)"; the type of a function is long, and says less. */
static void put_code(struct text_out *out, const struct program *p, const struct closure_table *t)
{
        char name[PROGRAM_NAME_BYTES], source[NAME_SOURCE_BYTES], type[NAME_TYPE_BYTES];
        const enum name_kind kind = name_of_code(p, t->at, name, sizeof(name));

        text_put(out, name);
        text_put(out, kind == NAME_LOCAL ? " (local " : " (");
        text_put(out, closure_is_thunk(t->type) ? "thunk" : "function");
        name_of_type(p, t->at, type);
        if (closure_is_thunk(t->type) && type[0]) {
                text_put(out, " :: ");
                text_put(out, type);
        }
        name_of_source(p, t->at, source);
        text_put(out, source[0] ? ", " : "");
        text_put(out, source);
        text_put(out, ")");
}

void closure_name(const struct program *p, const struct closure_table *t, bool by_type, char *ret, size_t size)
{
        struct text_out out;

        text_out_init(&out, ret, size);
        if (t->name && by_type)
                text_put(&out, t->name);
        else if (t->name) { /* where it was applied is known with -fdistinct-constructor-tables */
                char source[NAME_SOURCE_BYTES];
                name_of_source(p, t->at, source);
                text_put(&out, t->name);
                text_put(&out, source[0] ? " (" : "");
                text_put(&out, source);
                text_put(&out, source[0] ? ")" : "");
        } else if (by_type)
                text_put(&out, closure_type_name(t->type));
        else if (closure_is_function(t->type) || closure_is_thunk(t->type))
                put_code(&out, p, t);
        else
                text_put(&out, other_name(t->type));
}

static int by_name(const void *a, const void *b)
{
        const struct heap_band *x = a, *y = b;

        return strcmp(x->name, y->name);
}

static int by_bytes(const void *a, const void *b)
{
        const struct heap_band *x = a, *y = b;

        if (x->bytes != y->bytes)
                return x->bytes > y->bytes ? -1 : 1;
        return strcmp(x->name, y->name);
}

/* Those of one name become one. */
static size_t merge_and_sort(struct heap_band *bands, size_t n)
{
        size_t kept = 0;

        if (n == 0)
                return 0;
        qsort(bands, n, sizeof(*bands), by_name);
        for (size_t i = 0; i < n; i++) {
                struct heap_band *to = kept ? &bands[kept - 1] : NULL;
                if (!to || strcmp(to->name, bands[i].name) != 0) {
                        bands[kept++] = bands[i];
                        continue;
                }
                to->bytes += bands[i].bytes;
                to->objects += bands[i].objects;
                to->elements += bands[i].elements;
                to->same += bands[i].same;
                free(bands[i].name);
        }
        qsort(bands, kept, sizeof(*bands), by_bytes);
        return kept;
}

bool heap_bands_of(struct heap_bands *ret, const struct heap_census *c, const struct ghc *g, bool by_type)
{
        char name[CLOSURE_NAME_BYTES];
        bool good = (ret->items = calloc((size_t)c->n + 1, sizeof(*ret->items))) != NULL;

        ret->n = 0;
        for (uint32_t id = 1; good && id < c->n; id++) {
                if (c->objects[id] == 0)
                        continue;
                closure_name(g->program, info_tables_nth(&g->tables, id), by_type, name, sizeof(name));
                struct heap_band *b = &ret->items[ret->n];
                *b = (struct heap_band){ .name = strdup(name), .bytes = c->bytes[id], .objects = c->objects[id] };
                good = b->name != NULL;
                ret->n += good;
        }
        ret->n = merge_and_sort(ret->items, ret->n);
        if (!good)
                heap_bands_done(ret);
        return good;
}

/* ------------------------------------------------------------------------- contents */

struct row_of_band {
        const struct contents_row *row;
        struct heap_band *band;
};

static int by_band(const void *a, const void *b)
{
        const struct row_of_band *x = a, *y = b;

        return (x->band > y->band) - (x->band < y->band);
}

static int compare_name(const void *name, const void *band)
{
        return strcmp(name, (*(struct heap_band *const *)band)->name);
}

static int by_name_of(const void *a, const void *b)
{
        return by_name(*(struct heap_band *const *)a, *(struct heap_band *const *)b);
}

struct heap_band **heap_bands_of_tables(const struct heap_bands *b, const struct heap_census *c, const struct ghc *g,
                                        bool by_type)
{
        struct heap_band **sorted = calloc(b->n + 1, sizeof(struct heap_band *));
        struct heap_band **ret = calloc((size_t)c->n + 1, sizeof(struct heap_band *));
        char name[CLOSURE_NAME_BYTES];

        for (size_t i = 0; sorted && i < b->n; i++)
                sorted[i] = &b->items[i];
        if (sorted && b->n)
                qsort(sorted, b->n, sizeof(struct heap_band *), by_name_of);
        for (uint32_t id = 1; sorted && ret && id < c->n; id++) {
                if (c->objects[id] == 0)
                        continue;
                closure_name(g->program, info_tables_nth(&g->tables, id), by_type, name, sizeof(name));
                struct heap_band *const *found = bsearch(name, sorted, b->n, sizeof(struct heap_band *), compare_name);
                ret[id] = found ? *found : NULL;
        }
        if (!sorted) {
                free(ret);
                ret = NULL;
        }
        free(sorted);
        return ret;
}

/* Each row with its band; *ret_n: how many have one. False: out of memory. */
static bool assign_rows(struct row_of_band *ret, size_t *ret_n, struct heap_bands *b, const struct heap_census *c,
                        const struct ghc *g, bool by_type)
{
        struct heap_band **of_table = heap_bands_of_tables(b, c, g, by_type);
        const struct heap_contents *contents = c->contents;
        size_t n = 0;

        for (uint32_t i = 0; of_table && i < contents->n_rows; i++) {
                const uint32_t id = contents->rows[i].id;
                struct heap_band *band = id < c->n ? of_table[id] : NULL;
                if (!band)
                        continue;
                band->is_container |= heap_contents_matter(contents, info_tables_nth(&g->tables, id));
                ret[n++] = (struct row_of_band){ &contents->rows[i], band };
        }
        ARRAY_SORT(ret, n, by_band);
        *ret_n = n;
        const bool good = of_table != NULL;
        free(of_table);
        return good;
}

/* The rows of one band. One of its own name alone would say nothing. */
static bool put_contents(struct heap_band *b, const struct row_of_band *rows, size_t n, const struct heap_contents *c)
{
        char name[PROGRAM_NAME_BYTES + 64];
        bool says_more = false, good = (b->contents = calloc(n, sizeof(*b->contents))) != NULL;

        for (size_t i = 0; good && i < n; i++) {
                const struct contents_row *r = rows[i].row;
                says_more |= heap_contents_name(c, r, name, sizeof(name));
                struct heap_band *to = &b->contents[b->n_contents];
                *to = (struct heap_band){ .name = strdup(name), .bytes = r->bytes, .objects = r->objects };
                to->elements = r->elements;
                to->same = r->same;
                good = to->name != NULL;
                b->n_contents += good;
        }
        b->n_contents = merge_and_sort(b->contents, b->n_contents);
        if (good && !says_more)
                heap_band_forget_contents(b);
        return good;
}

bool heap_bands_add_contents(struct heap_bands *b, const struct heap_census *c, const struct ghc *g, bool by_type)
{
        struct row_of_band *rows = calloc((size_t)c->contents->n_rows + 1, sizeof(*rows));
        size_t n = 0;
        bool good = rows && heap_contents_finish(c->contents) && assign_rows(rows, &n, b, c, g, by_type);

        for (size_t from = 0, to; good && from < n; from = to) {
                for (to = from + 1; to < n && rows[to].band == rows[from].band;)
                        to++;
                good = put_contents(rows[from].band, rows + from, to - from, c->contents);
        }
        free(rows);
        return good;
}

void heap_bands_pinned_as_runtime(struct heap_bands *b, const struct heap_census *c, const struct ghc *g)
{
        const uint64_t bytes = g->thread.label ? c->pinned_first_bytes : c->pinned_blocks * BLOCK_BYTES;

        for (size_t i = 0; i < b->n; i++)
                if (!strcmp(b->items[i].name, closure_type_name(ARR_WORDS)))
                        b->items[i].bytes = sub_sat(b->items[i].bytes, c->pinned_bytes) + bytes;
}

void heap_bands_sort(struct heap_bands *b)
{
        ARRAY_SORT(b->items, b->n, by_bytes);
}

static int by_plain_name(const void *a, const void *b)
{
        const struct heap_band *x = a, *y = b;

        return strcmp(name_without_package(x->name), name_without_package(y->name));
}

void heap_bands_sort_by_name(struct heap_bands *b)
{
        ARRAY_SORT(b->items, b->n, by_plain_name);
}

static int compare_plain_name(const void *name, const void *band)
{
        return strcmp(name, name_without_package(((const struct heap_band *)band)->name));
}

const struct heap_band *heap_bands_find(const struct heap_bands *b, const char *name)
{
        return b->n ? bsearch(name_without_package(name), b->items, b->n, sizeof(*b->items), compare_plain_name) : NULL;
}
