/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/census.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"

const uint64_t array_class_ends[ARRAY_CLASSES] = { 32, 128, 512, 2048, 8192, 65536, 1 << 20, UINT64_MAX };

/* NULL: not all of it is in one megablock, or in the copy. */
static const uint8_t *contents_at(const struct heap_snapshot *s, uint64_t at, uint64_t bytes)
{
        const struct megablock *m = snapshot_megablock(s, at);

        return m && !m->wide && bytes <= MEGABLOCK_BYTES - at % MEGABLOCK_BYTES ? m->bytes + at % MEGABLOCK_BYTES
                                                                                : NULL;
}

const uint8_t *heap_arrays_value(const struct heap_arrays *a, const struct array_content *c)
{
        return contents_at(a->snapshot, c->first, c->bytes);
}

/* Whether another one has the same contents. */
static void compare_contents(struct heap_arrays *a, uint64_t at, uint64_t bytes)
{
        const uint8_t *contents = contents_at(a->snapshot, at, bytes);

        if (!contents) {
                a->not_compared++;
                a->not_compared_bytes += bytes;
                return;
        }
        const uint64_t hash = hash_bytes(contents, bytes, a->seed);
        uint32_t place = idtable_start(&a->by_hash, hash), id;
        while ((id = idtable_next(&a->by_hash, hash, &place))) {
                struct array_content *c = &a->contents[id - 1];
                if (c->hash != hash || c->bytes != bytes || memcmp(heap_arrays_value(a, c), contents, bytes) != 0)
                        continue;
                c->arrays++;
                a->repeated++;
                a->repeated_bytes += bytes;
                return;
        }
        if (ARRAY_RESERVE(a->contents, a->contents_capacity, a->n_contents + 1) &&
            idtable_add(&a->by_hash, hash, a->n_contents + 1) == 0)
                a->contents[a->n_contents++] = (struct array_content){ hash, at, bytes, 1 };
        else
                a->out_of_memory = true;
}

static void count(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct heap_arrays *a = ctx;
        const unsigned header = a->snapshot->ghc->header_words;
        unsigned class = 0;

        (void)heap_census_add(&a->all, t, at, bytes);
        if (t->type != ARR_WORDS || a->out_of_memory)
                return;
        const uint64_t n = snapshot_word(a->snapshot, at + 8 * (uint64_t)header);
        if (n > bytes)
                return;
        while (n >= array_class_ends[class] && class + 1 < ARRAY_CLASSES)
                class ++;
        a->classes[class].arrays++;
        a->classes[class].bytes += n;
        a->arrays++;
        a->bytes += n;
        compare_contents(a, at + 8 * ((uint64_t)header + 1), n);
}

bool heap_arrays_count(struct heap_arrays *a, const struct heap_snapshot *s)
{
        *a = (struct heap_arrays){ .snapshot = s, .seed = hash_seed(a) };
        for (size_t i = 0; i < s->n_groups; i++)
                if (heap_group_is_counted(&s->groups[i]))
                        group_each(s, &s->groups[i], count, a, &a->all.rest);
        return !a->out_of_memory;
}

static int by_spare(const void *va, const void *vb)
{
        const uint64_t a = array_spare_bytes(va), b = array_spare_bytes(vb);

        return (a < b) - (a > b);
}

void heap_arrays_sort(struct heap_arrays *a)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < a->n_contents; i++)
                if (a->contents[i].arrays > 1)
                        a->contents[n++] = a->contents[i];
        a->n_contents = n;
        idtable_done(&a->by_hash); /* they have other places now */
        ARRAY_SORT(a->contents, n, by_spare);
}

void heap_arrays_done(struct heap_arrays *a)
{
        free(a->contents);
        idtable_done(&a->by_hash);
        heap_census_done(&a->all);
        a->contents = NULL;
        a->n_contents = a->contents_capacity = 0;
}
