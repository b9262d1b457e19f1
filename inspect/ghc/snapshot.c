/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - megablocks are copied whole, descriptors and all: one read each, and the same moment for both. Only the
 * first megablock of a large group has descriptors; of a large array of bytes the others are not needed.
 */
#include "inspect/ghc/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/memory/sorted.h"
#include "proto/base/array.h"

#define SPAN_MOST         (UINT64_C(1) << 42) /* of addresses that the heap is spread over */
#define WRITTEN_MOST      (UINT64_C(1) << 28) /* bytes outside of the heap */
#define DESCRIPTOR_AREA   (MEGABLOCK_BLOCKS * DESCRIPTOR_BYTES)
#define CAPABILITIES_MOST 256u
#define THREADS_MOST      (UINT64_C(1) << 24)
#define CHANGED_MOST      (UINT64_C(1) << 22) /* words */
#define REREAD_BYTES      65536u
#define PACKED_LINE       ((PACKED_WORDS + 1) * sizeof(uint32_t))
#define PACKED_BYTES      ((MEGABLOCK_BYTES / 8 + PACKED_WORDS - 1) / PACKED_WORDS * PACKED_LINE)
#define WIDE_MOST         ((MEGABLOCK_BYTES - PACKED_BYTES) / 8) /* of a megablock: else it is not packed */

static const uint8_t *first_descriptor(const uint8_t *megablock)
{
        return megablock + FIRST_BLOCK * DESCRIPTOR_BYTES;
}

/* Of a copied megablock; of a packed one until the next call. */
static const uint8_t *descriptors_of(const struct heap_snapshot *s, const struct megablock *m)
{
        static uint64_t words[DESCRIPTOR_AREA / 8];

        if (!m->wide)
                return m->bytes;
        for (uint32_t i = 0; i < ARRAY_SIZE(words); i++)
                words[i] = packed_word(s, m, i);
        return (const uint8_t *)words;
}

/* ------------------------------------------------------------------------- prepare */

uint64_t snapshot_heap_bytes(struct ghc *g)
{
        struct block_groups groups = { .in.program = g->program };
        struct block_group group;
        uint64_t n = 0, last = UINT64_MAX;

        while (block_groups_next(&groups, &group)) {
                n += group.blocks > MEGABLOCK_BLOCKS ? group.blocks / MEGABLOCK_BLOCKS : 0;
                n += group.start / MEGABLOCK_BYTES != last;
                last = group.start / MEGABLOCK_BYTES;
        }
        return n * MEGABLOCK_BYTES;
}

uint64_t snapshot_needed_bytes(const struct heap_snapshot *s, unsigned quarters_a_byte)
{
        return s->heap_bytes / 4 * quarters_a_byte + SNAPSHOT_BASE_BYTES;
}

/* An empty one, which copies so much of each megablock, and has so much ready for that. */
static bool prepare_copy(struct heap_snapshot *s, struct ghc *g, uint64_t each_bytes, uint64_t ready_bytes,
                         uint64_t most_bytes, unsigned quarters, struct error *error)
{
        const uint64_t gib_tenth = (UINT64_C(1) << 30) / 10;

        *s = (struct heap_snapshot){ .ghc = g, .each_bytes = each_bytes, .heap_bytes = snapshot_heap_bytes(g) };
        const uint64_t needed = snapshot_needed_bytes(s, quarters), megablocks = s->heap_bytes / MEGABLOCK_BYTES;
        if (needed > most_bytes) {
                const uint64_t heap = s->heap_bytes / gib_tenth + 1, memory = needed / gib_tenth + 1;
                return error_set(error,
                                 "its heap has %" PRIu64 ".%" PRIu64 " GiB, and to inspect it takes %" PRIu64
                                 ".%" PRIu64 " GiB of memory",
                                 heap / 10, heap % 10, memory / 10, memory % 10);
        }
        s->most_bytes = megablocks * each_bytes * 5 / 4 + 16 * each_bytes;
        s->n_reserve = (size_t)(megablocks + megablocks / 8 + 2); /* more: the program runs, and allocates */
        if (!(s->reserve = aligned_alloc(BLOCK_BYTES, s->n_reserve * each_bytes)))
                return error_set(error, "out of memory");
        for (size_t at = 0; at < (megablocks + 2) * ready_bytes; at += BLOCK_BYTES)
                s->reserve[at] = 1;
        return true;
}

bool snapshot_prepare(struct heap_snapshot *s, struct ghc *g, uint64_t most_bytes, unsigned quarters_a_byte,
                      struct error *error)
{
        return prepare_copy(s, g, MEGABLOCK_BYTES, MEGABLOCK_BYTES, most_bytes, quarters_a_byte, error);
}

bool snapshot_prepare_packed(struct heap_snapshot *s, struct ghc *g, uint64_t most_bytes, unsigned quarters_a_byte,
                             struct error *error)
{
        const bool good = prepare_copy(s, g, MEGABLOCK_BYTES, PACKED_BYTES, most_bytes, quarters_a_byte, error);

        s->is_packed = good;
        return good;
}

bool snapshot_prepare_descriptors(struct heap_snapshot *s, struct ghc *g, struct error *error)
{
        return prepare_copy(s, g, DESCRIPTOR_AREA, DESCRIPTOR_AREA, UINT64_MAX, 0, error);
}

bool snapshot_prepare_again(struct heap_snapshot *s)
{
        snapshot_clear(s);
        s->heap_bytes = snapshot_heap_bytes(s->ghc);
        return s->heap_bytes / MEGABLOCK_BYTES <= s->n_reserve;
}

/* ---------------------------------------------------------------------------- copy */

static bool is_partial_copy(const struct heap_snapshot *s)
{
        return s->each_bytes < MEGABLOCK_BYTES;
}

static bool is_in_reserve(const struct heap_snapshot *s, const uint8_t *bytes)
{
        return s->reserve && bytes >= s->reserve && bytes < s->reserve + s->n_reserve * s->each_bytes;
}

static uint8_t *new_bytes(struct heap_snapshot *s)
{
        if (s->used_reserve + s->each_bytes <= s->n_reserve * s->each_bytes)
                return s->reserve + s->used_reserve;
        return s->bytes + s->each_bytes <= s->most_bytes ? malloc(s->each_bytes) : NULL;
}

/* What the words of most heaps are: small, pointers into the heap, and of code, or small and negative. */
static void choose_bases(struct heap_snapshot *s, uint64_t heap)
{
        const struct program *p = s->ghc->program;
        uint64_t largest = 0, code = UINT64_MAX;

        for (size_t i = 0; i < p->n_mappings; i++) {
                const struct mapping *m = &p->mappings[i];
                if (m->executable && m->start > UINT32_MAX && m->end - m->start > largest) {
                        largest = m->end - m->start;
                        code = m->start;
                }
        }
        s->bases[0] = 0;
        s->bases[1] = heap >> 32 << 32;
        s->bases[2] = (code >> 32 == heap >> 32 ? UINT64_MAX : code) >> 32 << 32;
}

/* Returns the bytes that it takes; 0: it has too many words without a short form. */
static size_t pack_megablock(const struct heap_snapshot *s, const uint64_t *words, uint8_t *to)
{
        const uint32_t heap = (uint32_t)(s->bases[1] >> 32), code = (uint32_t)(s->bases[2] >> 32);
        uint64_t *wide = (uint64_t *)(void *)(to + PACKED_BYTES);
        uint32_t *line = (uint32_t *)(void *)to, n_wide = 0;

        for (size_t left = MEGABLOCK_BYTES / 8, n; left > 0; left -= n, words += n, line += PACKED_WORDS + 1) {
                uint32_t small = 0, of_heap = 0, of_code = 0;
                n = left < PACKED_WORDS ? left : PACKED_WORDS;
                for (size_t i = 0; i < n; i++) {
                        const uint32_t upper = (uint32_t)(words[i] >> 32);
                        line[i] = (uint32_t)words[i];
                        small |= (uint32_t)(upper == 0) << i;
                        of_heap |= (uint32_t)(upper == heap) << i;
                        of_code |= (uint32_t)(upper == code) << i;
                }
                uint32_t others = ~(small | of_heap | of_code) & ((UINT32_C(1) << n) - 1);
                line[PACKED_WORDS] = (of_heap | others) | (of_code | others) << (PACKED_WORDS + 1);
                for (; others; others &= others - 1) {
                        const int i = __builtin_ctz(others);
                        if (n_wide == WIDE_MOST)
                                return 0;
                        line[i] = n_wide;
                        wide[n_wide++] = words[i];
                }
        }
        return PACKED_BYTES + n_wide * sizeof(*wide);
}

/* Where a megablock is read to that will be packed. */
static uint64_t unpacked[MEGABLOCK_BYTES / 8];

static uint8_t *room_to_read(struct heap_snapshot *s)
{
        return s->is_packed ? (uint8_t *)unpacked : new_bytes(s);
}

/* One that is not from the reserve. */
static void free_bytes(const struct heap_snapshot *s, uint8_t *bytes)
{
        if (!is_in_reserve(s, bytes) && bytes != (uint8_t *)unpacked)
                free(bytes);
}

/* `bytes` have been read. False: out of memory. */
static bool add_megablock(struct heap_snapshot *s, uint64_t at, uint8_t *bytes, bool is_new)
{
        struct megablock m = { .at = at, .bytes = bytes };
        size_t used = s->each_bytes;

        if (is_partial_copy(s) && !(m.parts = calloc(MEGABLOCK_BLOCKS, sizeof(*m.parts))))
                return false;
        for (unsigned i = 0; m.parts && i < FIRST_BLOCK; i++)
                m.parts[i] = bytes + (size_t)i * BLOCK_BYTES;
        if (s->is_packed) {
                if (s->n_megablocks == 0)
                        choose_bases(s, at);
                if (!(m.bytes = new_bytes(s)))
                        return false;
                const size_t packed = pack_megablock(s, unpacked, m.bytes);
                m.wide = packed ? (uint64_t *)(void *)(m.bytes + PACKED_BYTES) : NULL;
                if (packed)
                        used = (packed + PACKED_LINE - 1) / PACKED_LINE * PACKED_LINE;
                else
                        memcpy(m.bytes, unpacked, MEGABLOCK_BYTES);
        }
        m.size = (uint32_t)used;
        s->megablocks[s->n_megablocks++] = m;
        s->used_reserve += is_new && is_in_reserve(s, m.bytes) ? used : 0;
        s->bytes += is_new ? used : 0;
        return true;
}

/* What was set aside of a megablock; NULL: nothing. */
static struct megablock *set_aside(const struct heap_snapshot *s, uint64_t at)
{
        return s->before ? snapshot_megablock(s->before, at) : NULL;
}

static bool begins_with_bytes(struct heap_snapshot *s, const uint8_t *bytes)
{
        const struct closure_table *t = info_tables_find(&s->ghc->tables, u64_at(bytes, 0));

        return t && t->type == ARR_WORDS;
}

static bool is_settled(const struct megablock *m, size_t block)
{
        return m->settled[block / 64] >> (block % 64) & 1;
}

/* Of what was set aside, the groups that can have changed; `now` are its descriptors. */
static bool copy_changed(struct heap_snapshot *s, struct megablock *m, const uint8_t *now)
{
        struct block_group g;

        for (uint32_t end = FIRST_BLOCK; block_group_next(now, m->at, &end, &g);) {
                const size_t b = (g.start - m->at) / BLOCK_BYTES, n = end - b;
                const struct block_group then = block_group_read(m->bytes + b * DESCRIPTOR_BYTES);
                if (g.free == BLOCK_FREE)
                        continue;
                const bool same = g.start == then.start && g.free == then.free && g.blocks == then.blocks &&
                                  g.generation == then.generation && g.flags == then.flags;
                const size_t k = !same || !is_settled(m, b) ? n : g.flags & BLOCK_COMPACT ? 1 : 0;
                if (!same)
                        for (size_t i = b; i < b + n; i++)
                                m->settled[i / 64] &= ~(UINT64_C(1) << (i % 64));
                if (k > 0 && !memory_read(s->ghc->program->memory, m->at + b * BLOCK_BYTES, m->bytes + b * BLOCK_BYTES,
                                          k * BLOCK_BYTES))
                        return false;
        }
        memcpy(m->bytes, now, DESCRIPTOR_AREA);
        return true;
}

/* The further megablocks of a large group. False: out of memory. */
static bool copy_reach(struct heap_snapshot *s, uint64_t at, uint64_t reach, bool same)
{
        for (uint64_t i = 1; i < reach; i++) {
                struct megablock *known = set_aside(s, at + i * MEGABLOCK_BYTES);
                uint8_t *more;
                if (!ARRAY_RESERVE(s->megablocks, s->megablocks_capacity, s->n_megablocks + 1) ||
                    !(more = known ? known->bytes : room_to_read(s)))
                        return false;
                const bool is_read = (known && same) || memory_read(s->ghc->program->memory, at + i * MEGABLOCK_BYTES,
                                                                    more, MEGABLOCK_BYTES);
                const bool is_added = is_read && add_megablock(s, at + i * MEGABLOCK_BYTES, more, !known);
                if (!is_added && !known)
                        free_bytes(s, more);
                if (is_read && !is_added)
                        return false;
        }
        return true;
}

/* One megablock and those that its group reaches over. Returns how many that are; 0: out of memory. */
static uint64_t copy_megablock(struct heap_snapshot *s, uint64_t at, uint64_t left)
{
        static uint8_t now[DESCRIPTOR_AREA];
        const struct memory *m = s->ghc->program->memory;
        struct megablock *known = set_aside(s, at);
        struct block_group first;
        uint8_t *bytes;

        if (!memory_read(m, at, now, sizeof(now)) || !block_group_first(first_descriptor(now), at, &first) ||
            !block_group_is_there(m, at, &first))
                return 1;
        uint64_t reach = block_group_megablocks(&first);
        reach = reach < left ? reach : left;
        /* By the group of its first block: none of its groups is in use. */
        if (first.free == BLOCK_FREE && first.blocks >= MEGABLOCK_BLOCKS - FIRST_BLOCK)
                return reach;
        if (!ARRAY_RESERVE(s->megablocks, s->megablocks_capacity, s->n_megablocks + 1) ||
            !(bytes = known ? known->bytes : room_to_read(s)))
                return 0;
        bool same = false;
        if (known) {
                const struct block_group then = block_group_read(first_descriptor(bytes));
                same = is_settled(known, FIRST_BLOCK) && then.start == first.start && then.blocks == first.blocks &&
                       then.free == first.free;
                if (!copy_changed(s, known, now))
                        return reach;
        } else {
                memcpy(bytes, now, sizeof(now));
                if (!memory_read(m, at + DESCRIPTOR_AREA, bytes + DESCRIPTOR_AREA, s->each_bytes - DESCRIPTOR_AREA)) {
                        free_bytes(s, bytes);
                        return reach;
                }
        }
        if (!add_megablock(s, at, bytes, !known)) {
                if (!known)
                        free_bytes(s, bytes);
                return 0;
        }
        if (reach > 1 && !is_partial_copy(s) && !begins_with_bytes(s, bytes + FIRST_BLOCK * BLOCK_BYTES) &&
            !copy_reach(s, at, reach, same))
                return 0;
        return reach;
}

static bool copy_heap(struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx, struct error *error)
{
        struct megablocks m = { .program = s->ghc->program };

        while (megablocks_next(&m)) {
                if ((m.reach = copy_megablock(s, m.at, m.left)) == 0)
                        return error_set(error, "its heap grows faster than it is copied");
                if ((s->expired = expired && expired(ctx)))
                        return error_set(error, "its heap was not copied in the time that there was");
        }
        return true;
}

/* False: out of memory. */
static bool copy_part(struct heap_snapshot *s, uint64_t start, uint64_t end)
{
        const size_t n = (size_t)(end - start);
        uint8_t *bytes;

        if (n > WRITTEN_MOST - s->written_bytes) {
                s->is_partial = true;
                return true;
        }
        if (!ARRAY_RESERVE(s->written, s->written_capacity, s->n_written + 1) || !(bytes = malloc(n)))
                return false;
        if (!memory_read(s->ghc->program->memory, start, bytes, n)) {
                s->is_partial = true;
                free(bytes);
                return true;
        }
        s->written[s->n_written++] = (struct written){ start, end, bytes };
        s->written_bytes += n;
        return true;
}

/* What is not heap and may be written: closures that do not move, the runtime's variables, what it has from malloc. */
static bool copy_written(struct heap_snapshot *s)
{
        const struct program *p = s->ghc->program;
        const uint64_t high = s->low + s->n_places * MEGABLOCK_BYTES;

        for (size_t i = 0; i < p->n_mappings; i++) {
                const struct mapping *m = &p->mappings[i];
                if (!m->writable || !m->readable || (m->start < high && m->end > s->low))
                        continue;
                for (uint64_t start = m->start, end = m->end; start < end; start = end, end = m->end) {
                        if (!m->file && !memory_find_touched(p->memory, &start, &end))
                                break;
                        if (!copy_part(s, start, end))
                                return false;
                }
        }
        return true;
}

/* By address: they were found in that order. */
static bool make_places(struct heap_snapshot *s, struct error *error)
{
        if (s->n_megablocks == 0)
                return error_set(error, "it has no heap of GHC's runtime: no block of memory looks like one of it");
        s->low = s->megablocks[0].at;
        const uint64_t span = s->megablocks[s->n_megablocks - 1].at - s->low;
        if (span >= SPAN_MOST)
                return error_set(error, "its heap is spread over more than 4 TiB of addresses");
        s->n_places = (size_t)(span / MEGABLOCK_BYTES + 1);
        if (!(s->places = calloc(s->n_places, sizeof(*s->places))))
                return error_set(error, "out of memory");
        for (size_t i = 0; i < s->n_megablocks; i++)
                s->places[(s->megablocks[i].at - s->low) / MEGABLOCK_BYTES] = (uint32_t)i + 1;
        return true;
}

static void free_written(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_written; i++)
                free(s->written[i].bytes);
        free(s->written);
}

/* What has not gone into the copy. */
static void forget_before(struct heap_snapshot *s)
{
        struct heap_snapshot *before = s->before;

        for (size_t i = 0; before && i < before->n_megablocks; i++) {
                const struct megablock *old = &before->megablocks[i], *m = snapshot_megablock(s, old->at);
                if (!m || m->bytes != old->bytes)
                        free_bytes(s, old->bytes);
        }
        if (before) {
                free(before->megablocks);
                free(before->places);
                free(before);
        }
        s->before = NULL;
}

/* A copy that failed: what is new goes, what was set aside is there again. */
static void return_to_before(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++)
                if (!set_aside(s, s->megablocks[i].at))
                        free_bytes(s, s->megablocks[i].bytes);
        free(s->megablocks);
        free(s->places);
        s->megablocks = NULL;
        s->places = NULL;
        s->n_megablocks = s->megablocks_capacity = s->n_places = 0;
        s->bytes = s->before->bytes;
        s->used_reserve = s->before->used_reserve;
}

bool snapshot_copy(struct heap_snapshot *s, bool with_written, bool (*expired)(void *ctx), void *ctx,
                   struct error *error)
{
        s->expired = false;
        s->generations = s->ghc->generations;
        bool good = (generations_read(&s->generations, s->ghc->program) ||
                     error_set(error, "its generations cannot be read any more")) &&
                    copy_heap(s, expired, ctx, error) && make_places(s, error);
        if (!good && s->before)
                return_to_before(s);
        else if (good)
                forget_before(s);
        return good && (!with_written || copy_written(s) || error_set(error, "out of memory"));
}

/* --------------------------------------------------------------------------- index */

static bool add_group(struct heap_snapshot *s, const struct block_group *g)
{
        const uint64_t end = g->start + (uint64_t)g->blocks * BLOCK_BYTES;

        if (g->free == BLOCK_FREE)
                return true;
        if (!ARRAY_RESERVE(s->groups, s->groups_capacity, s->n_groups + 1))
                return false;
        s->groups[s->n_groups++] = (struct heap_group){
                .start = g->start,
                .end = (g->flags & BLOCK_NONMOVING)            ? end
                       : g->free >= g->start && g->free <= end ? g->free
                                                               : g->start,
                .blocks = g->blocks,
                .flags = g->flags,
        };
        for (uint64_t b = 0; b < g->blocks; b++) {
                const uint64_t at = g->start + b * BLOCK_BYTES;
                struct megablock *of = snapshot_megablock(s, at);
                if (of)
                        of->groups[at % MEGABLOCK_BYTES / BLOCK_BYTES] = (uint32_t)s->n_groups;
                else if (b % MEGABLOCK_BLOCKS == 0 && b > MEGABLOCK_BLOCKS)
                        break; /* its other megablocks were not copied */
        }
        return true;
}

static void clear_groups(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++)
                memset(s->megablocks[i].groups, 0, sizeof(s->megablocks[i].groups));
        s->n_groups = 0;
        s->lost_links = 0;
}

/* By the address of its descriptor. */
static struct heap_group *group_of_descriptor(const struct heap_snapshot *s, uint64_t descriptor)
{
        const struct megablock *m = snapshot_megablock(s, descriptor);
        const uint32_t g = m ? m->groups[descriptor % MEGABLOCK_BYTES / DESCRIPTOR_BYTES % MEGABLOCK_BLOCKS] : 0;

        return g && descriptor % MEGABLOCK_BYTES < DESCRIPTOR_AREA ? &s->groups[g - 1] : NULL;
}

static void mark_list(struct heap_snapshot *s, uint64_t descriptor, enum group_kind kind)
{
        for (size_t n = 0; descriptor && n <= s->n_groups; n++) {
                struct heap_group *g = group_of_descriptor(s, descriptor);
                if (!g || g->kind != GROUP_OTHER) {
                        s->lost_links += !g;
                        return;
                }
                g->kind = (uint8_t)kind;
                descriptor = snapshot_word(s, descriptor + 16);
        }
}

static uint64_t written_word(const struct heap_snapshot *s, uint64_t at)
{
        uint64_t value;

        return snapshot_read(s, at, &value) ? value : memory_u64(s->ghc->program->memory, at);
}

/*
 * What follows the current block of a nursery is empty, whatever its descriptor says. A thread that runs has Hp in
 * a register.
 */
static void mark_nursery(struct heap_snapshot *s, uint64_t capability)
{
        const uint64_t nursery = written_word(s, capability + CAPABILITY_NURSERY);
        const uint64_t current = written_word(s, capability + CAPABILITY_CURRENT_NURSERY);
        uint64_t descriptor = nursery ? written_word(s, nursery) : 0;
        const struct program *p = s->ghc->program;
        bool past = false;

        for (size_t n = 0; descriptor && n <= s->n_groups; n++) {
                struct heap_group *g = group_of_descriptor(s, descriptor);
                if (!g || g->kind != GROUP_OTHER)
                        return;
                g->kind = GROUP_YOUNG;
                if (past)
                        g->end = g->start;
                else if (descriptor == current)
                        for (size_t i = 0; i < p->n_registers; i++)
                                if (p->registers[i].base == capability + CAPABILITY_REGISTERS &&
                                    p->registers[i].hs_hp >= g->start &&
                                    p->registers[i].hs_hp + 8 <= g->start + (uint64_t)g->blocks * BLOCK_BYTES)
                                        g->end = p->registers[i].hs_hp + 8;
                past |= descriptor == current;
                descriptor = snapshot_word(s, descriptor + 16);
        }
}

bool snapshot_next_thread(struct snapshot_threads *t, uint64_t *ret_tso)
{
        const struct heap_snapshot *s = t->snapshot;

        for (;;) {
                const struct closure_table *i = snapshot_table(s, t->next);
                if (i && i->type == TSO && t->count < THREADS_MOST) {
                        *ret_tso = t->next;
                        t->next = snapshot_word(s, t->next + s->ghc->shift + THREAD_LINK);
                        t->count++;
                        return true;
                }
                if (t->generation == s->generations.n)
                        return false;
                t->next = s->generations.items[t->generation++].threads;
        }
}

/*
 * Large objects and segments of the non-moving collector are on lists of its own: known by their flags. The block that
 * each collecting thread copies into is on no list: known by its flag and by a closure at its beginning; a block of a
 * nursery that no capability has at the moment (-n) has no flag.
 */
static void mark_rest(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_groups; i++) {
                struct heap_group *g = &s->groups[i];
                if (g->kind != GROUP_OTHER)
                        continue;
                if (g->flags & BLOCK_NONMOVING)
                        g->kind = GROUP_NONMOVING;
                else if (g->flags & BLOCK_COMPACT)
                        g->kind = GROUP_COMPACT;
                else if ((g->flags & BLOCK_LARGE) && (g->flags & (BLOCK_MARKED | BLOCK_NONMOVING_SWEEPING)))
                        g->kind = GROUP_LARGE;
                else if (is_partial_copy(s))
                        continue; /* what it begins with may not have been copied */
                else if ((g->flags & BLOCK_EVACUATED) && !(g->flags & (BLOCK_LARGE | BLOCK_PINNED)) &&
                         g->end > g->start && snapshot_table(s, g->start))
                        g->kind = GROUP_SMALL;
                else if (!g->flags && g->blocks == 1 && g->end > g->start && snapshot_table(s, g->start))
                        g->kind = GROUP_NURSERY;
        }
}

bool snapshot_index(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                const struct megablock *m = &s->megablocks[i];
                const uint8_t *descriptors = descriptors_of(s, m);
                struct block_group g;
                if (!block_group_first(first_descriptor(descriptors), m->at, &g) || m->groups[FIRST_BLOCK])
                        continue; /* it is a further one of a large group */
                for (uint32_t b = FIRST_BLOCK; block_group_next(descriptors, m->at, &b, &g);)
                        if (!add_group(s, &g))
                                return false;
        }
        for (unsigned i = 0; i < s->generations.n; i++) {
                mark_list(s, s->generations.items[i].blocks, GROUP_SMALL);
                mark_list(s, s->generations.items[i].large_objects, GROUP_LARGE);
                mark_list(s, s->generations.items[i].compact_objects, GROUP_COMPACT);
        }
        struct snapshot_threads threads = { .snapshot = s };
        uint64_t capabilities[CAPABILITIES_MOST], tso;
        size_t n = 0;

        while (n < CAPABILITIES_MOST && snapshot_next_thread(&threads, &tso)) {
                const uint64_t at = snapshot_word(s, tso + s->ghc->shift + s->ghc->thread.capability);
                size_t i = 0;
                while (i < n && capabilities[i] != at)
                        i++;
                if (i < n || !at)
                        continue;
                capabilities[n++] = at;
                mark_nursery(s, at);
        }
        mark_rest(s);
        s->region_bytes = 0;
        for (size_t i = 0; i < s->n_groups; i++)
                if (s->groups[i].kind == GROUP_COMPACT)
                        s->region_bytes += (uint64_t)s->groups[i].blocks * BLOCK_BYTES;
        return true;
}

/* --------------------------------------------------------------------- what is settled */

/* Closures that the program writes to after it has made them; a thunk is written to once, which may be missed. */
static bool is_written_to(const struct closure_table *t)
{
        return t && ((t->type >= MVAR_CLEAN && t->type <= TVAR) ||
                     (t->type >= MUT_ARR_PTRS_CLEAN && t->type <= MUT_VAR_DIRTY) || t->type == WEAK ||
                     (t->type >= MUT_PRIM && t->type <= TREC_CHUNK) || t->type == BLOCKING_QUEUE ||
                     (t->type >= SMALL_MUT_ARR_PTRS_CLEAN && t->type <= SMALL_MUT_ARR_PTRS_FROZEN_CLEAN));
}

/* Of the oldest generation: its closures stay until a major collection. */
static bool is_old(const struct heap_snapshot *s, const struct heap_group *g)
{
        const struct megablock *m = snapshot_megablock(s, g->start);
        const size_t block = g->start % MEGABLOCK_BYTES / BLOCK_BYTES;

        return (g->kind == GROUP_SMALL || g->kind == GROUP_LARGE || g->kind == GROUP_COMPACT) &&
               block_group_read(m->bytes + block * DESCRIPTOR_BYTES).generation_number + 1u == s->generations.n;
}

static void set_settled(struct heap_snapshot *s, const struct heap_group *g, bool settled)
{
        for (uint64_t b = 0; b < g->blocks; b++) {
                struct megablock *m = snapshot_megablock(s, g->start + b * BLOCK_BYTES);
                const size_t i = (g->start + b * BLOCK_BYTES) % MEGABLOCK_BYTES / BLOCK_BYTES;
                if (!m)
                        break;
                m->settled[i / 64] = (m->settled[i / 64] & ~(UINT64_C(1) << (i % 64))) | (uint64_t)settled << (i % 64);
        }
}

/* Word by word: bytes that look like a pointer are read once more, for nothing. `old` has a bit for each block. */
static bool may_change(const struct heap_snapshot *s, const struct heap_group *g, uint64_t (*old)[4])
{
        const uint64_t span = s->n_places * MEGABLOCK_BYTES;

        for (uint64_t at = g->start; at < g->end; at += 8) {
                const uint64_t word = snapshot_word(s, at), in = word - s->low;
                const size_t block = word % MEGABLOCK_BYTES / BLOCK_BYTES;
                if (in < span) {
                        const uint32_t place = s->places[in / MEGABLOCK_BYTES];
                        if (!place || !(old[place - 1][block / 64] >> (block % 64) & 1))
                                return true;
                } else if (is_written_to(info_tables_find(&s->ghc->tables, word))) {
                        return true;
                }
        }
        return false;
}

static bool find_settled(struct heap_snapshot *s)
{
        uint64_t(*old)[4] = calloc(s->n_megablocks, sizeof(*old)), in_use = 0, settled = 0;

        if (!old)
                return false;
        for (size_t i = 0; i < s->n_groups; i++)
                set_settled(s, &s->groups[i], is_old(s, &s->groups[i]));
        for (size_t i = 0; i < s->n_megablocks; i++)
                memcpy(old[i], s->megablocks[i].settled, sizeof(old[i]));
        for (size_t i = 0; i < s->n_groups; i++) {
                const struct heap_group *g = &s->groups[i];
                const uint8_t *bytes = snapshot_megablock(s, g->start)->bytes + g->start % MEGABLOCK_BYTES;
                if (is_old(s, g) && g->kind != GROUP_COMPACT &&
                    !(g->kind == GROUP_LARGE && begins_with_bytes(s, bytes)) && may_change(s, g, old))
                        set_settled(s, g, false);
                in_use += g->blocks;
                settled += is_settled(snapshot_megablock(s, g->start), g->start % MEGABLOCK_BYTES / BLOCK_BYTES)
                                   ? g->blocks
                                   : 0;
        }
        free(old);
        s->left_bytes = s->n_megablocks * DESCRIPTOR_AREA + (in_use - settled) * BLOCK_BYTES;
        return true;
}

bool snapshot_settle(struct heap_snapshot *s)
{
        struct heap_snapshot *before = malloc(sizeof(*before));

        if (!before || s->is_packed || !snapshot_index(s) || !find_settled(s)) {
                free(before);
                snapshot_clear(s);
                return false;
        }
        clear_groups(s);
        free(s->groups);
        free_written(s);
        *before = *s;
        *s = (struct heap_snapshot){ .ghc = s->ghc,
                                     .reserve = s->reserve,
                                     .n_reserve = s->n_reserve,
                                     .used_reserve = s->used_reserve,
                                     .heap_bytes = s->heap_bytes,
                                     .each_bytes = s->each_bytes,
                                     .most_bytes = s->most_bytes,
                                     .bytes = s->bytes,
                                     .before = before,
                                     .left_bytes = s->left_bytes };
        return true;
}

/* ---------------------------------------------------------------- the second reading */

static bool keep_changed(struct heap_snapshot *s, const uint8_t *before, const uint8_t *now, size_t n)
{
        for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
                if (memcmp(before + at, now + at, sizeof(uint64_t)) == 0)
                        continue;
                if (s->n_changed == CHANGED_MOST || !ARRAY_RESERVE(s->changed, s->changed_capacity, s->n_changed + 1))
                        return false;
                memcpy(&s->changed[s->n_changed++], before + at, sizeof(uint64_t));
        }
        return true;
}

static bool reread_memory(struct heap_snapshot *s, uint64_t at, uint8_t *bytes, size_t n, bool keeps)
{
        static uint8_t now[REREAD_BYTES];

        for (size_t done = 0; done < n; done += sizeof(now)) {
                const size_t k = n - done < sizeof(now) ? n - done : sizeof(now);
                if (!memory_read(s->ghc->program->memory, at + done, now, k) ||
                    (keeps && !keep_changed(s, bytes + done, now, k)))
                        return false;
                memcpy(bytes + done, now, k);
        }
        return true;
}

/* EMPTY: without closures at the first reading, whatever was there before. */
enum use { OLD, YOUNG, EMPTY };

static enum use use_of(const struct heap_snapshot *s, const struct megablock *m, size_t block)
{
        const struct heap_group *g = m->groups[block] ? &s->groups[m->groups[block] - 1] : NULL;

        if (!g || g->kind == GROUP_OTHER)
                return EMPTY;
        return g->kind != GROUP_YOUNG && g->kind != GROUP_NURSERY ? OLD
               : m->at + block * BLOCK_BYTES < g->end             ? YOUNG
                                                                  : EMPTY;
}

/* With what is old, or what is young and what is empty alone. Neighbours of one use at once. */
static bool reread_heap(struct heap_snapshot *s, bool with_old, bool keeps, bool (*expired)(void *ctx), void *ctx)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                const struct megablock *m = &s->megablocks[i];
                for (size_t from = 0, to; from < MEGABLOCK_BLOCKS; from = to) {
                        const enum use use = use_of(s, m, from);
                        for (to = from + 1; to < MEGABLOCK_BLOCKS && use_of(s, m, to) == use;)
                                to++;
                        if ((with_old || use != OLD) &&
                            !reread_memory(s, m->at + from * BLOCK_BYTES, m->bytes + from * BLOCK_BYTES,
                                           (to - from) * BLOCK_BYTES, keeps && use != EMPTY))
                                return false;
                }
                if (expired && expired(ctx))
                        return false;
        }
        return true;
}

/* First what is young as it was at the end of the first reading: until which block nurseries are used is of then. */
bool snapshot_reread(struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx)
{
        if (s->is_partial || s->is_packed || !snapshot_index(s) || !reread_heap(s, false, false, expired, ctx) ||
            !reread_heap(s, true, true, expired, ctx))
                return false;
        for (size_t i = 0; i < s->n_written; i++)
                if (!reread_memory(s, s->written[i].start, s->written[i].bytes,
                                   (size_t)(s->written[i].end - s->written[i].start), true))
                        return false;
        if (!reread_heap(s, false, true, expired, ctx))
                return false;
        clear_groups(s);
        return true;
}

bool snapshot_read(const struct heap_snapshot *s, uint64_t at, uint64_t *ret)
{
        if (at & 7)
                return false;
        if (snapshot_megablock(s, at)) {
                *ret = snapshot_word(s, at);
                return true;
        }
        const size_t i = sorted_range(s->written, s->n_written, sizeof(*s->written), at);
        const struct written *w = i < s->n_written ? &s->written[i] : NULL;
        if (!w || w->end - at < sizeof(*ret))
                return false;
        *ret = u64_at(w->bytes, (size_t)(at - w->start));
        return true;
}

void snapshot_release(const struct heap_snapshot *s, const struct megablock *m)
{
        if (is_in_reserve(s, m->bytes))
                array_give_back(m->bytes, m->size);
}

void snapshot_clear(struct heap_snapshot *s)
{
        const struct heap_snapshot before = *s;

        forget_before(s);
        for (size_t i = 0; i < s->n_megablocks; i++) {
                free_bytes(s, s->megablocks[i].bytes);
                free(s->megablocks[i].marks);
                free(s->megablocks[i].parts);
        }
        free_written(s);
        free(s->megablocks);
        free(s->places);
        free(s->groups);
        free(s->changed);
        *s = (struct heap_snapshot){ .ghc = before.ghc,
                                     .reserve = before.reserve,
                                     .n_reserve = before.n_reserve,
                                     .is_packed = before.is_packed,
                                     .heap_bytes = before.heap_bytes,
                                     .each_bytes = before.each_bytes,
                                     .most_bytes = before.most_bytes };
}

void snapshot_done(struct heap_snapshot *s)
{
        snapshot_clear(s);
        free(s->reserve);
        *s = (struct heap_snapshot){ .ghc = s->ghc };
}
