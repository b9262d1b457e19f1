/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/blocks.h"

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

bool megablocks_next(struct megablocks *m)
{
        const uint64_t reach = !m->reach ? 1 : m->reach < m->left ? m->reach : m->left;
        struct range r;

        m->at += m->left ? reach * MEGABLOCK_BYTES : 0;
        m->left -= m->left ? reach : 0;
        m->reach = 0;
        while (m->left == 0) {
                if (!program_next_anonymous(m->program, &m->next_mapping, &r))
                        return false;
                m->at = (r.start + MEGABLOCK_BYTES - 1) & ~(MEGABLOCK_BYTES - 1);
                m->left = m->at < r.end ? (r.end - m->at) / MEGABLOCK_BYTES : 0;
        }
        return true;
}

bool block_groups_next(struct block_groups *b, struct block_group *ret)
{
        for (;;) {
                while (b->is_inside && block_group_next(b->descriptors, b->in.at, &b->next_block, ret))
                        if (ret->free != BLOCK_FREE)
                                return true;
                if (!megablocks_next(&b->in))
                        return false;
                b->is_inside = memory_read(b->in.program->memory, b->in.at, b->descriptors, sizeof(b->descriptors)) &&
                               block_group_first(b->descriptors + FIRST_BLOCK * DESCRIPTOR_BYTES, b->in.at, ret) &&
                               block_group_is_there(b->in.program->memory, b->in.at, ret);
                b->in.reach = b->is_inside ? block_group_megablocks(ret) : 0;
                b->next_block = FIRST_BLOCK;
        }
}

/* A segment of the non-moving collector has 8 blocks, so a megablock of them begins with one or with a free group. */
uint64_t blocks_megablocks(const struct program *p, bool *ret_nonmoving)
{
        struct megablocks m = { .program = p };
        struct block_group first;
        uint8_t bytes[DESCRIPTOR_BYTES];
        uint64_t n = 0;

        for (*ret_nonmoving = false; megablocks_next(&m); n += m.reach) {
                if (!memory_read(p->memory, m.at + (uint64_t)FIRST_BLOCK * DESCRIPTOR_BYTES, bytes, sizeof(bytes)) ||
                    !block_group_first(bytes, m.at, &first) || !block_group_is_there(p->memory, m.at, &first))
                        continue;
                m.reach = block_group_megablocks(&first);
                *ret_nonmoving |= first.free != BLOCK_FREE && (first.flags & BLOCK_NONMOVING);
        }
        return n;
}

/* ------------------------------------------------------------------- generations */

struct votes {
        uint64_t candidates[CANDIDATES];
        uint64_t counts[CANDIDATES];
        unsigned n;
        uint64_t seen;
};

/* False: it is decided. */
static bool add_vote(struct votes *v, const struct block_group *g)
{
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
        struct block_groups groups = { .in.program = p };
        struct block_group g;
        struct votes v = { .n = 0 };

        while (block_groups_next(&groups, &g) && add_vote(&v, &g))
                ;
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
