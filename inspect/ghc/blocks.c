/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/blocks.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES              64u
#define VOTES_ENOUGH            100000u
#define BLOCKS_MOST             (UINT32_C(1) << 28)
#define BLOCKS_WITH_DESCRIPTORS (MEGABLOCK_BLOCKS - FIRST_BLOCK)
#define STRUCT_LEAST            200u /* bytes of a generation: 232, 368 and 384 are known */
#define STRUCT_MOST             512u

struct block_group block_group_read(const uint8_t *d)
{
        return (struct block_group){
                .start = u64_at(d, 0),
                .free = u64_at(d, 8),
                .generation = u64_at(d, 32),
                .generation_number = (uint16_t)u32_at(d, 40),
                .flags = (uint16_t)(u32_at(d, 44) >> 16),
                .blocks = u32_at(d, 48),
        };
}

/* -------------------------------------------------------------------- megablocks */

bool block_group_first(const uint8_t *descriptor, uint64_t megablock, struct block_group *ret)
{
        *ret = block_group_read(descriptor);
        return ret->start == megablock + FIRST_BLOCK * BLOCK_BYTES && ret->blocks > 0 && ret->blocks <= BLOCKS_MOST;
}

bool block_group_next(const uint8_t *descriptors, uint64_t megablock, uint32_t *at, struct block_group *ret)
{
        while (*at < MEGABLOCK_BLOCKS) {
                const uint32_t b = *at, left = MEGABLOCK_BLOCKS - b, most = b == FIRST_BLOCK ? BLOCKS_MOST : left;

                *ret = block_group_read(descriptors + (size_t)b * DESCRIPTOR_BYTES);
                const bool is_group =
                        ret->blocks > 0 && ret->blocks <= most && ret->start == megablock + (uint64_t)b * BLOCK_BYTES;
                *at += !is_group ? 1 : ret->blocks < left ? ret->blocks : left;
                if (is_group)
                        return true;
        }
        return false;
}

bool block_group_is_there(const struct memory *m, uint64_t megablock, const struct block_group *first)
{
        const uint64_t reach = block_group_megablocks(first);
        uint8_t byte;

        return reach == 1 || memory_read(m, megablock + (reach - 1) * MEGABLOCK_BYTES, &byte, 1);
}

uint64_t block_group_megablocks(const struct block_group *g)
{
        return g->blocks <= BLOCKS_WITH_DESCRIPTORS
                       ? 1
                       : 1 + ((uint64_t)(g->blocks - BLOCKS_WITH_DESCRIPTORS) * BLOCK_BYTES + MEGABLOCK_BYTES - 1) /
                                         MEGABLOCK_BYTES;
}

/*
 * The groups in use of one megablock. Returns how many megablocks its groups reach over. 0: it is none, or the caller
 * has seen enough (*ret_continues).
 */
static uint64_t each_group(const struct program *p, uint64_t megablock, uint8_t *descriptors,
                           bool (*each)(void *ctx, const struct block_group *g), void *ctx, bool *ret_continues)
{
        struct block_group first, g;

        if (!memory_read(p->memory, megablock, descriptors, MEGABLOCK_BLOCKS * DESCRIPTOR_BYTES) ||
            !block_group_first(descriptors + FIRST_BLOCK * DESCRIPTOR_BYTES, megablock, &first) ||
            !block_group_is_there(p->memory, megablock, &first))
                return 0;
        for (uint32_t b = FIRST_BLOCK; *ret_continues && block_group_next(descriptors, megablock, &b, &g);)
                if (g.free != BLOCK_FREE)
                        *ret_continues = each(ctx, &g);
        return block_group_megablocks(&first);
}

/* Calls `see` for what may be a megablock, which returns how many it reaches over (0: it is none), until it says so. */
static void each_megablock(const struct program *p,
                           uint64_t (*see)(const struct program *p, uint64_t megablock, void *ctx, bool *ret_continues),
                           void *ctx)
{
        struct range r;
        bool continues = true;

        for (size_t i = 0; continues && program_next_anonymous(p, &i, &r);) {
                uint64_t at = (r.start + MEGABLOCK_BYTES - 1) & ~(MEGABLOCK_BYTES - 1);
                while (continues && at < r.end && r.end - at >= MEGABLOCK_BYTES) {
                        const uint64_t reach = see(p, at, ctx, &continues);
                        const uint64_t left = (r.end - at) / MEGABLOCK_BYTES;
                        at += (reach == 0 ? 1 : reach < left ? reach : left) * MEGABLOCK_BYTES;
                }
        }
}

struct groups {
        bool (*each)(void *ctx, const struct block_group *g);
        void *ctx;
        uint8_t *descriptors;
};

static uint64_t see_groups(const struct program *p, uint64_t megablock, void *ctx, bool *ret_continues)
{
        const struct groups *g = ctx;

        return each_group(p, megablock, g->descriptors, g->each, g->ctx, ret_continues);
}

void blocks_each(const struct program *p, bool (*each)(void *ctx, const struct block_group *g), void *ctx)
{
        struct groups g = { each, ctx, malloc(MEGABLOCK_BLOCKS * DESCRIPTOR_BYTES) };

        if (g.descriptors)
                each_megablock(p, see_groups, &g);
        free(g.descriptors);
}

struct megablocks {
        uint64_t n;
        bool nonmoving;
};

/* A segment of the non-moving collector has 8 blocks, so a megablock of them begins with one or with a free group. */
static uint64_t see_megablock(const struct program *p, uint64_t megablock, void *ctx, bool *ret_continues)
{
        struct megablocks *m = ctx;
        struct block_group first;
        uint8_t bytes[DESCRIPTOR_BYTES];

        (void)ret_continues;
        if (!memory_read(p->memory, megablock + (uint64_t)FIRST_BLOCK * DESCRIPTOR_BYTES, bytes, sizeof(bytes)) ||
            !block_group_first(bytes, megablock, &first) || !block_group_is_there(p->memory, megablock, &first))
                return 0;
        m->n += block_group_megablocks(&first);
        m->nonmoving |= first.free != BLOCK_FREE && (first.flags & BLOCK_NONMOVING);
        return block_group_megablocks(&first);
}

uint64_t blocks_megablocks(const struct program *p, bool *ret_nonmoving)
{
        struct megablocks m = { 0, false };

        each_megablock(p, see_megablock, &m);
        *ret_nonmoving = m.nonmoving;
        return m.n;
}

/* ------------------------------------------------------------------- generations */

struct votes {
        uint64_t candidates[CANDIDATES];
        uint64_t counts[CANDIDATES];
        unsigned n;
        uint64_t seen;
};

static bool vote_group(void *ctx, const struct block_group *g)
{
        struct votes *v = ctx;
        unsigned i = 0;

        v->seen++;
        if (g->generation_number != 0 || g->generation < BLOCK_BYTES || (g->generation & 7))
                return true;
        while (i < v->n && v->candidates[i] != g->generation)
                i++;
        if (i == CANDIDATES)
                return true;
        if (i == v->n) {
                v->candidates[v->n] = g->generation;
                v->counts[v->n++] = 0;
        }
        return ++v->counts[i] < VOTES_ENOUGH;
}

/* Offsets in struct generation_ of rts/storage/GC.h. */
enum {
        AT_NUMBER = 0,
        AT_BLOCKS = 8,
        AT_N_WORDS = 24,
        AT_LARGE_OBJECTS = 32,
        AT_N_LARGE_BLOCKS = 40,
        AT_N_LARGE_WORDS = 48,
        AT_COMPACT_OBJECTS = 64,
        AT_N_COMPACT_BLOCKS = 72,
        AT_MAX_BLOCKS = 96,
        AT_THREADS = 104,
        AT_WEAK_POINTERS = 112,
        AT_TO = 120,
        AT_COLLECTIONS = 128,
        AT_PARALLEL_COLLECTIONS = 132,
        FROM_END_OLD_BLOCKS = 80,
        FROM_END_OLD_THREADS = 16,
};

/* The chain of `to`, which ends with the oldest: that leads to itself. */
static bool read_chain(struct generations *ret, const struct program *p, uint64_t first)
{
        struct generations g = { .n = 0 };
        uint64_t at = first;

        for (;;) {
                if (g.n == GENERATIONS_MOST || memory_u32(p->memory, at + AT_NUMBER) != g.n)
                        return false;
                g.items[g.n++].at = at;
                const uint64_t to = memory_u64(p->memory, at + AT_TO);
                if (to == at)
                        break;
                if (g.n == 1 && to > at && to - at >= STRUCT_LEAST && to - at <= STRUCT_MOST)
                        g.struct_bytes = (unsigned)(to - at);
                if (g.struct_bytes == 0 || to != at + g.struct_bytes)
                        return false;
                at = to;
        }
        *ret = g;
        return true;
}

bool generations_find(struct generations *ret, const struct program *p, struct error *error)
{
        struct votes v = { .n = 0 };

        blocks_each(p, vote_group, &v);
        if (v.seen == 0)
                return error_set(error, "it has no heap of GHC's runtime: no block of memory looks like one of it");
        while (v.n > 0) {
                unsigned best = 0;
                for (unsigned i = 1; i < v.n; i++)
                        if (v.counts[i] > v.counts[best])
                                best = i;
                if (read_chain(ret, p, v.candidates[best]) && generations_read(ret, p))
                        return true;
                v.n--;
                v.candidates[best] = v.candidates[v.n];
                v.counts[best] = v.counts[v.n];
        }
        return error_set(error,
                         "its heap is laid out in another way than that of GHC 9.0 to 9.10: no generations found");
}

bool generations_read(struct generations *g, const struct program *p)
{
        for (unsigned i = 0; i < g->n; i++) {
                struct heap_generation *to = &g->items[i];
                uint8_t bytes[STRUCT_MOST];
                const unsigned n = g->struct_bytes ? g->struct_bytes : AT_PARALLEL_COLLECTIONS + 4u;

                if (!memory_read(p->memory, to->at, bytes, n))
                        return false;
                *to = (struct heap_generation){
                        .at = to->at,
                        .blocks = u64_at(bytes, AT_BLOCKS),
                        .n_words = u64_at(bytes, AT_N_WORDS),
                        .large_objects = u64_at(bytes, AT_LARGE_OBJECTS),
                        .n_large_blocks = u64_at(bytes, AT_N_LARGE_BLOCKS),
                        .n_large_words = u64_at(bytes, AT_N_LARGE_WORDS),
                        .compact_objects = u64_at(bytes, AT_COMPACT_OBJECTS),
                        .n_compact_blocks = u64_at(bytes, AT_N_COMPACT_BLOCKS),
                        .max_blocks = u64_at(bytes, AT_MAX_BLOCKS),
                        .threads = u64_at(bytes, AT_THREADS),
                        .weak_pointers = u64_at(bytes, AT_WEAK_POINTERS),
                        .collections = u32_at(bytes, AT_COLLECTIONS),
                        .parallel_collections = u32_at(bytes, AT_PARALLEL_COLLECTIONS),
                };
                if (g->struct_bytes) {
                        to->old_threads = u64_at(bytes, g->struct_bytes - FROM_END_OLD_THREADS);
                        to->collecting = u64_at(bytes, g->struct_bytes - FROM_END_OLD_BLOCKS) != 0;
                }
        }
        return true;
}

bool generations_collecting(const struct generations *g)
{
        for (unsigned i = 0; i < g->n; i++)
                if (g->items[i].collecting)
                        return true;
        return false;
}

uint64_t generations_collections(const struct generations *g)
{
        uint64_t n = 0;

        for (unsigned i = 0; i < g->n; i++)
                n += g->items[i].collections;
        return n;
}

bool heap_moment_is_over(void *moment)
{
        const struct heap_moment *m = moment;
        struct generations now = m->generations;

        return !generations_read(&now, m->program) || generations_collecting(&now) ||
               generations_collections(&now) != generations_collections(&m->generations);
}

bool heap_moment_is_past_major(void *moment)
{
        const struct heap_moment *m = moment;
        struct generations now = m->generations;
        const unsigned oldest = now.n - 1;

        return !generations_read(&now, m->program) || now.items[oldest].collecting ||
               now.items[oldest].collections != m->generations.items[oldest].collections;
}
