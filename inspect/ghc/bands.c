/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/bands.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
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
                if (type >= MUT_ARR_PTRS_CLEAN && type <= MUT_ARR_PTRS_FROZEN_CLEAN)
                        return "MUT_ARR_PTRS (Array#)";
                if (type >= SMALL_MUT_ARR_PTRS_CLEAN && type <= SMALL_MUT_ARR_PTRS_FROZEN_CLEAN)
                        return "SMALL_MUT_ARR_PTRS (SmallArray#)";
                return closure_type_name(type);
        }
}

void closure_name(const struct program *p, const struct closure_table *t, bool by_type, char *ret, size_t size)
{
        struct text_out out;

        text_out_init(&out, ret, size);
        if (t->name) {
                text_put(&out, t->name);
        } else if (by_type) {
                text_put(&out, closure_type_name(t->type));
        } else if (closure_is_function(t->type) || closure_is_thunk(t->type)) {
                char name[PROGRAM_NAME_BYTES];
                const enum name_kind kind = name_of_code(p, t->at, name, sizeof(name));
                text_put(&out, name);
                text_put(&out, kind == NAME_LOCAL ? " (local " : " (");
                text_put(&out, closure_is_thunk(t->type) ? "thunk)" : "function)");
        } else {
                text_put(&out, other_name(t->type));
        }
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

/* Neighbours of one name become one. */
static size_t merge(struct heap_band *bands, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                if (kept && !strcmp(bands[kept - 1].name, bands[i].name)) {
                        bands[kept - 1].bytes += bands[i].bytes;
                        bands[kept - 1].objects += bands[i].objects;
                        free(bands[i].name);
                } else {
                        bands[kept++] = bands[i];
                }
        }
        return kept;
}

bool heap_bands_of(struct heap_bands *ret, const struct heap_census *c, const struct ghc *g, bool by_type)
{
        char name[PROGRAM_NAME_BYTES + 64];
        bool good = (ret->items = calloc((size_t)c->n + 1, sizeof(*ret->items))) != NULL;

        ret->n = 0;
        for (uint32_t id = 1; good && id < c->n; id++) {
                if (c->objects[id] == 0)
                        continue;
                closure_name(g->program, info_tables_nth(&g->tables, id), by_type, name, sizeof(name));
                struct heap_band *b = &ret->items[ret->n];
                *b = (struct heap_band){ strdup(name), c->bytes[id], c->objects[id] };
                good = b->name != NULL;
                ret->n += good;
        }
        if (ret->n) {
                qsort(ret->items, ret->n, sizeof(*ret->items), by_name);
                ret->n = merge(ret->items, ret->n);
                heap_bands_sort(ret);
        }
        if (!good)
                heap_bands_done(ret);
        return good;
}

void heap_bands_pinned_as_runtime(struct heap_bands *b, const struct heap_census *c, const struct ghc *g)
{
        const uint64_t bytes = g->thread.label ? c->pinned_first_bytes : c->pinned_blocks * BLOCK_BYTES;

        for (size_t i = 0; i < b->n; i++)
                if (!strcmp(b->items[i].name, closure_type_name(ARR_WORDS)) && b->items[i].bytes >= c->pinned_bytes)
                        b->items[i].bytes += bytes - c->pinned_bytes;
}

void heap_bands_sort(struct heap_bands *b)
{
        if (b->n)
                qsort(b->items, b->n, sizeof(*b->items), by_bytes);
}

void heap_bands_done(struct heap_bands *b)
{
        for (size_t i = 0; i < b->n; i++)
                free(b->items[i].name);
        free(b->items);
        *b = (struct heap_bands){ NULL, 0 };
}
