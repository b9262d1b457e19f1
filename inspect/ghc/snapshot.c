/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - megablocks are copied whole, descriptors and all: one read each, and the same moment for both. Only the
 * first megablock of a large group has descriptors; of a large array of bytes the others are not needed.
 */
#include "inspect/ghc/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/memory/sorted.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define SPAN_MOST         (UINT64_C(1) << 42) /* of addresses that the heap is spread over */
#define WRITTEN_MOST      (UINT64_C(1) << 28) /* bytes outside of the heap */
#define DESCRIPTOR_AREA   (MEGABLOCK_BLOCKS * DESCRIPTOR_BYTES)
#define CAPABILITIES_MOST 256u
#define THREADS_MOST      (UINT64_C(1) << 24)
#define CHANGED_MOST      (UINT64_C(1) << 22) /* words */
#define REREAD_BYTES      65536u

static const uint8_t *first_descriptor(const uint8_t *megablock)
{
        return megablock + FIRST_BLOCK * DESCRIPTOR_BYTES;
}

/* ------------------------------------------------------------------------- prepare */

struct size {
        uint64_t megablocks, last;
};

static bool see_size(void *ctx, const struct block_group *g)
{
        struct size *s = ctx;
        const uint64_t megablock = g->start / MEGABLOCK_BYTES;

        if (g->blocks > MEGABLOCK_BLOCKS)
                s->megablocks += g->blocks / MEGABLOCK_BLOCKS;
        s->megablocks += megablock != s->last;
        s->last = megablock;
        return true;
}

static void put_gib(struct text_out *out, uint64_t bytes)
{
        const uint64_t tenths = bytes / ((UINT64_C(1) << 30) / 10) + 1;

        text_put_u64(out, tenths / 10);
        text_put(out, ".");
        text_put_u64(out, tenths % 10);
        text_put(out, "GiB");
}

uint64_t snapshot_heap_bytes(struct ghc *g)
{
        struct size size = { 0, UINT64_MAX };

        blocks_each(g->program, see_size, &size);
        return size.megablocks * MEGABLOCK_BYTES;
}

/* An empty one, which copies so much of each megablock. */
static void begin_snapshot(struct heap_snapshot *s, struct ghc *g, uint64_t each_bytes)
{
        *s = (struct heap_snapshot){ .ghc = g, .each_bytes = each_bytes, .heap_bytes = snapshot_heap_bytes(g) };
}

/* An eighth more: it runs, and allocates. */
static bool make_reserve(struct heap_snapshot *s, struct error *error)
{
        const uint64_t megablocks = s->heap_bytes / MEGABLOCK_BYTES, bytes = megablocks * s->each_bytes;

        s->most_bytes = bytes + bytes / 4 + 16 * s->each_bytes;
        s->n_reserve = (size_t)(megablocks + megablocks / 8 + 2);
        if (!(s->reserve = malloc(s->n_reserve * s->each_bytes)))
                return error_set(error, "out of memory");
        for (size_t at = 0; at < s->n_reserve * s->each_bytes; at += BLOCK_BYTES)
                s->reserve[at] = 1;
        return true;
}

uint64_t snapshot_needed_bytes(const struct heap_snapshot *s, unsigned quarters_a_byte)
{
        return s->heap_bytes / 4 * quarters_a_byte + SNAPSHOT_BASE_BYTES;
}

bool snapshot_prepare(struct heap_snapshot *s, struct ghc *g, uint64_t most_bytes, unsigned quarters_a_byte,
                      struct error *error)
{
        begin_snapshot(s, g, MEGABLOCK_BYTES);
        const uint64_t needed = snapshot_needed_bytes(s, quarters_a_byte);
        if (needed > most_bytes) {
                char text[64], given[64];
                struct text_out out;
                text_out_init(&out, text, sizeof(text));
                put_gib(&out, needed + needed / 8);
                text_out_init(&out, given, sizeof(given));
                put_gib(&out, s->heap_bytes);
                return error_set(error,
                                 "its heap has %s, and to inspect it needs more memory than allowed: --memory %s",
                                 given, text);
        }
        return make_reserve(s, error);
}

bool snapshot_prepare_descriptors(struct heap_snapshot *s, struct ghc *g, struct error *error)
{
        begin_snapshot(s, g, DESCRIPTOR_AREA);
        return make_reserve(s, error);
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

static uint8_t *new_bytes(struct heap_snapshot *s)
{
        if (s->used_reserve < s->n_reserve)
                return s->reserve + s->used_reserve * s->each_bytes;
        return s->bytes + s->each_bytes <= s->most_bytes ? malloc(s->each_bytes) : NULL;
}

/* False: out of memory. */
static bool add_megablock(struct heap_snapshot *s, uint64_t at, uint8_t *bytes)
{
        uint8_t **parts = is_partial_copy(s) ? calloc(MEGABLOCK_BLOCKS, sizeof(uint8_t *)) : NULL;

        if (is_partial_copy(s) && !parts)
                return false;
        for (unsigned i = 0; parts && i < FIRST_BLOCK; i++)
                parts[i] = bytes + (size_t)i * BLOCK_BYTES;
        s->megablocks[s->n_megablocks++] = (struct megablock){ .at = at, .bytes = bytes, .parts = parts };
        s->used_reserve += s->used_reserve < s->n_reserve;
        s->bytes += s->each_bytes;
        return true;
}

static void drop(const struct heap_snapshot *s, uint8_t *bytes)
{
        if (s->used_reserve >= s->n_reserve)
                free(bytes);
}

/* By the group of its first block: none of its groups is in use. */
static bool is_free(const struct block_group *first)
{
        return first->free == BLOCK_FREE && first->blocks >= MEGABLOCK_BLOCKS - FIRST_BLOCK;
}

static bool is_large_bytes(struct heap_snapshot *s, const uint8_t *bytes)
{
        const struct closure_table *t = info_tables_find(&s->ghc->tables, u64_at(bytes, FIRST_BLOCK * BLOCK_BYTES));
        return t && t->type == ARR_WORDS;
}

/* One megablock and those that its group reaches over. Returns how many that are; 0: out of memory. */
static uint64_t copy_megablock(struct heap_snapshot *s, uint64_t at, uint64_t left)
{
        const struct memory *m = s->ghc->program->memory;
        struct block_group first;
        uint8_t *bytes;

        if (!ARRAY_RESERVE(s->megablocks, s->megablocks_capacity, s->n_megablocks + 1) || !(bytes = new_bytes(s)))
                return 0;
        if (!memory_read(m, at, bytes, DESCRIPTOR_AREA) || !block_group_first(first_descriptor(bytes), at, &first)) {
                drop(s, bytes);
                return 1;
        }
        uint64_t reach = block_group_megablocks(&first);
        reach = reach < left ? reach : left;
        if (is_free(&first) ||
            !memory_read(m, at + DESCRIPTOR_AREA, bytes + DESCRIPTOR_AREA, s->each_bytes - DESCRIPTOR_AREA)) {
                drop(s, bytes);
                return reach;
        }
        if (!add_megablock(s, at, bytes)) {
                drop(s, bytes);
                return 0;
        }
        for (uint64_t i = 1; i < reach && !is_partial_copy(s) && !is_large_bytes(s, bytes); i++) {
                uint8_t *more;
                if (!ARRAY_RESERVE(s->megablocks, s->megablocks_capacity, s->n_megablocks + 1) ||
                    !(more = new_bytes(s)))
                        return 0;
                if (memory_read(m, at + i * MEGABLOCK_BYTES, more, MEGABLOCK_BYTES))
                        (void)add_megablock(s, at + i * MEGABLOCK_BYTES, more);
                else
                        drop(s, more);
        }
        return reach;
}

static bool copy_heap(struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx, struct error *error)
{
        struct range r;

        for (size_t i = 0; program_next_anonymous(s->ghc->program, &i, &r);)
                for (uint64_t at = (r.start + MEGABLOCK_BYTES - 1) & ~(MEGABLOCK_BYTES - 1);
                     at < r.end && r.end - at >= MEGABLOCK_BYTES;) {
                        const uint64_t n = copy_megablock(s, at, (r.end - at) / MEGABLOCK_BYTES);
                        if (n == 0)
                                return error_set(error, "its heap grows faster than it is copied");
                        if ((s->expired = expired(ctx)))
                                return error_set(error,
                                                 "its heap was not copied within --max-pause, and while it runs, "
                                                 "it collects too often for that: allow more");
                        at += n * MEGABLOCK_BYTES;
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

bool snapshot_copy(struct heap_snapshot *s, bool with_written, bool (*expired)(void *ctx), void *ctx,
                   struct error *error)
{
        s->generations = s->ghc->generations;
        if (!generations_read(&s->generations, s->ghc->program))
                return error_set(error, "its generations cannot be read any more");
        if (!copy_heap(s, expired, ctx, error) || !make_places(s, error))
                return false;
        return !with_written || copy_written(s) || error_set(error, "out of memory");
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

static bool find_groups(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                const struct megablock *m = &s->megablocks[i];
                struct block_group g;
                if (!block_group_first(first_descriptor(m->bytes), m->at, &g) || m->groups[FIRST_BLOCK])
                        continue; /* it is a further one of a large group */
                for (uint32_t b = FIRST_BLOCK; b < MEGABLOCK_BLOCKS;) {
                        g = block_group_read(m->bytes + (size_t)b * DESCRIPTOR_BYTES);
                        if (g.blocks == 0 || g.start != m->at + (uint64_t)b * BLOCK_BYTES) {
                                b++;
                                continue;
                        }
                        if (!add_group(s, &g))
                                return false;
                        b += g.blocks < MEGABLOCK_BLOCKS ? g.blocks : MEGABLOCK_BLOCKS;
                }
        }
        return true;
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

void snapshot_each_thread(const struct heap_snapshot *s, bool (*each)(void *ctx, uint64_t tso), void *ctx)
{
        uint64_t count = 0;

        for (unsigned i = 0; i < s->generations.n; i++)
                for (uint64_t tso = s->generations.items[i].threads; count < THREADS_MOST; count++) {
                        const struct closure_table *t = info_tables_find(&s->ghc->tables, snapshot_word(s, tso));
                        if (!t || t->type != TSO)
                                break;
                        if (!each(ctx, tso))
                                return;
                        tso = snapshot_word(s, tso + s->ghc->shift + THREAD_LINK);
                }
}

struct capabilities {
        const struct heap_snapshot *snapshot;
        uint64_t items[CAPABILITIES_MOST];
        size_t n;
};

static bool see_capability(void *ctx, uint64_t tso)
{
        struct capabilities *c = ctx;
        const struct ghc *g = c->snapshot->ghc;
        const uint64_t at = snapshot_word(c->snapshot, tso + g->shift + g->thread.capability);
        size_t i = 0;

        while (i < c->n && c->items[i] != at)
                i++;
        if (i == c->n && at)
                c->items[c->n++] = at;
        return c->n < CAPABILITIES_MOST;
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
                         g->end > g->start && info_tables_find(&s->ghc->tables, snapshot_word(s, g->start)))
                        g->kind = GROUP_SMALL;
                else if (!g->flags && g->blocks == 1 && g->end > g->start &&
                         info_tables_find(&s->ghc->tables, snapshot_word(s, g->start)))
                        g->kind = GROUP_NURSERY;
        }
}

bool snapshot_index(struct heap_snapshot *s)
{
        struct capabilities c = { .snapshot = s };

        if (!find_groups(s))
                return false;
        for (unsigned i = 0; i < s->generations.n; i++) {
                mark_list(s, s->generations.items[i].blocks, GROUP_SMALL);
                mark_list(s, s->generations.items[i].large_objects, GROUP_LARGE);
                mark_list(s, s->generations.items[i].compact_objects, GROUP_COMPACT);
        }
        snapshot_each_thread(s, see_capability, &c);
        for (size_t i = 0; i < c.n; i++)
                mark_nursery(s, c.items[i]);
        mark_rest(s);
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

static bool reread(struct heap_snapshot *s, uint64_t at, uint8_t *bytes, size_t n, bool keeps)
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

struct rereading {
        bool with_old; /* else what is young, and what is empty */
        bool keeps;    /* what has changed */
};

/* Neighbours of one use at once. */
static bool reread_megablock(struct heap_snapshot *s, const struct megablock *m, const struct rereading *r)
{
        for (size_t from = 0, to; from < MEGABLOCK_BLOCKS; from = to) {
                const enum use use = use_of(s, m, from);
                for (to = from + 1; to < MEGABLOCK_BLOCKS && use_of(s, m, to) == use;)
                        to++;
                if ((r->with_old || use != OLD) && !reread(s, m->at + from * BLOCK_BYTES, m->bytes + from * BLOCK_BYTES,
                                                           (to - from) * BLOCK_BYTES, r->keeps && use != EMPTY))
                        return false;
        }
        return true;
}

static bool reread_heap(struct heap_snapshot *s, struct rereading r, bool (*expired)(void *ctx), void *ctx)
{
        for (size_t i = 0; i < s->n_megablocks; i++)
                if (!reread_megablock(s, &s->megablocks[i], &r) || expired(ctx))
                        return false;
        return true;
}

static bool reread_written(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_written; i++)
                if (!reread(s, s->written[i].start, s->written[i].bytes,
                            (size_t)(s->written[i].end - s->written[i].start), true))
                        return false;
        return true;
}

static void forget_groups(struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++)
                memset(s->megablocks[i].groups, 0, sizeof(s->megablocks[i].groups));
        s->n_groups = 0;
        s->lost_links = 0;
}

/* First what is young as it was at the end of the first reading: until which block nurseries are used is of then. */
bool snapshot_reread(struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx)
{
        const struct rereading first = { false, false }, all = { true, true }, last = { false, true };

        if (s->is_partial || !snapshot_index(s) || !reread_heap(s, first, expired, ctx) ||
            !reread_heap(s, all, expired, ctx) || !reread_written(s) || !reread_heap(s, last, expired, ctx))
                return false;
        forget_groups(s);
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

void snapshot_clear(struct heap_snapshot *s)
{
        const struct heap_snapshot before = *s;

        for (size_t i = 0; i < s->n_megablocks; i++) {
                const uint8_t *bytes = s->megablocks[i].bytes;
                if (!s->reserve || bytes < s->reserve || bytes >= s->reserve + s->n_reserve * s->each_bytes)
                        free(s->megablocks[i].bytes);
                free(s->megablocks[i].numbers);
                free(s->megablocks[i].parts);
        }
        for (size_t i = 0; i < s->n_written; i++)
                free(s->written[i].bytes);
        free(s->megablocks);
        free(s->places);
        free(s->groups);
        free(s->written);
        free(s->changed);
        *s = (struct heap_snapshot){ .ghc = before.ghc,
                                     .reserve = before.reserve,
                                     .n_reserve = before.n_reserve,
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
