/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a block is closures one after the other, but there are gaps: a thunk that was evaluated is overwritten by a
 * shorter indirection, an array may shrink, arrays that must not move are aligned. After an indirection the next word
 * that has an info table begins the next closure; elsewhere such a gap is counted as not understood.
 */
#include "inspect/ghc/census.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "proto/base/array.h"

#define BYTES_MOST        (UINT64_C(1) << 45) /* of an array */
#define NONMOVING_SEGMENT 32768u
#define NONMOVING_HEADER  24u
#define COMPACT_HEADER    24u /* of each block of a region; in the first, its closure follows */
#define COMPACT_OWNER     8u  /* there: where this closure is */

/* ---------------------------------------------------------------------------- sizes */

static uint64_t word_of(const struct heap_snapshot *s, uint64_t at, unsigned word)
{
        return snapshot_word(s, at + 8 * (uint64_t)word);
}

/* In words; 0: none of the heap. */
static uint64_t closure_words(const struct heap_snapshot *s, const struct closure_table *t, uint64_t at)
{
        const unsigned h = s->ghc->header_words, thunk = h + 1;
        const uint64_t payload = (uint64_t)t->pointers + t->others;
        uint64_t n;

        switch (t->type) {
        case IND:
        case BLACKHOLE:
                return h + 1;
        case THUNK:
                return thunk + payload;
        case THUNK_1_0:
        case THUNK_1_0 + 1:
        case THUNK_SELECTOR:
                return thunk + 1;
        case THUNK_1_0 + 2:
        case THUNK_1_0 + 3:
        case THUNK_0_2:
                return thunk + 2;
        case AP:
                return thunk + 2 + (word_of(s, at, thunk) >> 32);
        case PAP:
                return h + 2 + (word_of(s, at, h) >> 32);
        case AP_STACK:
                return thunk + 2 + word_of(s, at, thunk);
        case ARR_WORDS:
                n = word_of(s, at, h);
                return n < BYTES_MOST ? h + 1 + (n + 7) / 8 : 0;
        case STACK:
                return h + 2 + (uint32_t)word_of(s, at, h);
        case TSO:
                return s->ghc->thread.words + (s->ghc->profiled ? 3u : 0u);
        case BCO:
                n = word_of(s, at, h + 3) >> 32;
                return n > h + 4 ? n : h + 4;
        case TREC_CHUNK:
                return h + 2 + (uint64_t)TREC_ENTRIES * s->ghc->trec_entry_words;
        case CONTINUATION:
                return h + 3 + word_of(s, at, h + 2);
        case FUN_STATIC:
        case THUNK_STATIC:
        case IND_STATIC:
        case WHITEHOLE:
                return 0;
        default:
                if (closure_is_array(t->type))
                        return h + 2 + word_of(s, at, h + 1);
                if (closure_is_small_array(t->type))
                        return h + 1 + word_of(s, at, h);
                if (closure_is_frame(t->type) || (closure_is_constructor(t->type) && !t->name))
                        return 0;
                return h + (payload ? payload : 1);
        }
}

uint64_t closure_of_region(const struct heap_snapshot *s, uint64_t at)
{
        const struct heap_group *g = snapshot_group(s, at);

        return g && g->kind == GROUP_COMPACT ? snapshot_word(s, g->start + COMPACT_OWNER) : at;
}

static uint64_t bytes_before(const struct heap_snapshot *s, const struct closure_table *t, uint64_t at, uint64_t end)
{
        const uint64_t words = t->type == COMPACT_NFDATA ? 0 : closure_words(s, t, at);

        if (t->type == COMPACT_NFDATA) { /* it stands for all blocks of its region, wherever they are */
                const uint64_t all = word_of(s, at, s->ghc->header_words);
                return all <= s->region_bytes / 8 ? all * 8 : 0;
        }
        return words > 0 && at < end && words <= (end - at) / 8 ? words * 8 : 0;
}

uint64_t closure_bytes(const struct heap_snapshot *s, const struct closure_table *t, uint64_t at,
                       const struct heap_group *g)
{
        const uint64_t bytes = bytes_before(s, t, at, g->start + (uint64_t)g->blocks * BLOCK_BYTES);
        const bool is_alone = g->kind == GROUP_LARGE && !(g->flags & BLOCK_PINNED);

        return bytes && is_alone && g->end - at > bytes && g->end > at ? g->end - at : bytes;
}

/* --------------------------------------------------------------------------- groups */

struct walking {
        const struct heap_snapshot *snapshot;
        void (*each)(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes);
        void *ctx;
        struct group_rest *rest;
};

static void walk_small(struct walking *w, const struct heap_group *g)
{
        const bool pinned = g->flags & BLOCK_PINNED; /* byte arrays alone; what is between them is older */
        bool gap = pinned, was_unknown = false;

        for (uint64_t at = g->start; at < g->end;) {
                const struct closure_table *t = snapshot_table(w->snapshot, at);
                const uint64_t bytes =
                        t && (!pinned || t->type == ARR_WORDS) ? bytes_before(w->snapshot, t, at, g->end) : 0;
                if (bytes) {
                        w->each(w->ctx, t, at, bytes);
                        at += bytes;
                        gap = t->type == IND || t->type == BLACKHOLE || pinned;
                        was_unknown = false;
                        continue;
                }
                if (gap || snapshot_word(w->snapshot, at) == 0) {
                        w->rest->unused_bytes += 8;
                } else {
                        w->rest->unknown_bytes += 8;
                        w->rest->met[t ? t->type : 0] += t || !was_unknown;
                        was_unknown = true;
                }
                at += 8;
        }
}

/* One closure; there may be words for its alignment before it. Its other megablocks may not have been copied. */
static void walk_large(struct walking *w, const struct heap_group *g)
{
        uint64_t at = g->start;

        while (at < g->end && at < g->start + BLOCK_BYTES && snapshot_word(w->snapshot, at) == 0)
                at += 8;
        const struct closure_table *t = snapshot_table(w->snapshot, at);
        const uint64_t bytes = t ? closure_bytes(w->snapshot, t, at, g) : 0;
        if (bytes) {
                w->each(w->ctx, t, at, bytes);
        } else {
                w->rest->unknown_bytes += g->end - g->start;
                w->rest->met[t ? t->type : 0]++;
        }
}

static void walk_compact(struct walking *w, const struct heap_group *g)
{
        const uint64_t at = g->start + COMPACT_HEADER;
        const struct closure_table *t = snapshot_table(w->snapshot, at);
        const uint64_t bytes = t && t->type == COMPACT_NFDATA ? bytes_before(w->snapshot, t, at, g->end) : 0;

        if (bytes)
                w->each(w->ctx, t, at, bytes);
}

/*
 * A segment has closures of one size, a byte for each that says in which collection it was reached, and which of them
 * are allocated. The size: a logarithm up to 9.6, then the number of an allocator.
 */
static uint32_t nonmoving_size(const struct heap_snapshot *s, const struct heap_group *g)
{
        const uint64_t d = g->start / MEGABLOCK_BYTES * MEGABLOCK_BYTES +
                           g->start % MEGABLOCK_BYTES / BLOCK_BYTES * DESCRIPTOR_BYTES;
        const uint32_t v = (uint32_t)(snapshot_word(s, d + 8) & 0xffff);

        if (s->ghc->thread.words >= 17)
                return v < 16 ? 8 * (v + 1) : v < 24 ? 256u << (v - 16) : 0;
        return (v & 0xff) < 16 ? 1u << (v & 0xff) : 0;
}

static void walk_nonmoving(struct walking *w, const struct heap_group *g)
{
        const struct heap_snapshot *s = w->snapshot;
        const uint32_t size = nonmoving_size(s, g);
        const struct megablock *m = snapshot_megablock(s, g->start);

        if (size < 8 || !m || g->start % NONMOVING_SEGMENT != 0)
                return;
        const uint32_t n = (NONMOVING_SEGMENT - NONMOVING_HEADER) / (size + 1);
        const uint64_t marks = g->start + 18, data = (g->start + NONMOVING_HEADER + n + 7) & ~UINT64_C(7);
        const uint32_t next_free = (uint16_t)snapshot_word(s, g->start + 16);
        for (uint32_t i = 0; i < n; i++) {
                const uint64_t at = data + (uint64_t)i * size;
                const uint64_t mark = snapshot_word(s, (marks + i) & ~UINT64_C(7)) >> 8 * ((marks + i) & 7);
                if (!(mark & 0xff) && i >= next_free)
                        continue;
                const struct closure_table *t = snapshot_table(s, at);
                const uint64_t bytes = t ? bytes_before(s, t, at, at + size) : 0;
                if (bytes)
                        w->each(w->ctx, t, at, bytes);
        }
}

void group_each(const struct heap_snapshot *s, const struct heap_group *g,
                void (*each)(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes), void *ctx,
                struct group_rest *rest)
{
        struct walking w = { s, each, ctx, rest };

        switch (g->kind) {
        case GROUP_SMALL:
        case GROUP_YOUNG:
        case GROUP_NURSERY:
                walk_small(&w, g);
                break;
        case GROUP_LARGE:
                if (g->flags & BLOCK_PINNED)
                        walk_small(&w, g);
                else
                        walk_large(&w, g);
                break;
        case GROUP_COMPACT:
                walk_compact(&w, g);
                break;
        case GROUP_NONMOVING:
                walk_nonmoving(&w, g);
                break;
        default:
                break;
        }
}

/* --------------------------------------------------------------------------- census */

static bool make_room(struct heap_census *c, uint32_t id)
{
        uint32_t bytes_capacity = c->capacity, objects_capacity = c->capacity;

        if (id < c->n)
                return true;
        if (!ARRAY_RESERVE_ZEROED(c->bytes, bytes_capacity, id + 1u) ||
            !ARRAY_RESERVE_ZEROED(c->objects, objects_capacity, id + 1u))
                return false;
        c->capacity = bytes_capacity;
        c->n = id + 1;
        return true;
}

struct counting {
        struct heap_census *census;
        is_left_fn *is_left; /* NULL: all are */
        void *ctx;
        bool any; /* is left in this group */
};

static void find_left(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct counting *n = ctx;

        n->any = n->any || n->is_left(n->ctx, t, at);
}

/* Whether anything in a group is left. */
static bool has_left(const struct heap_snapshot *s, const struct heap_group *g, is_left_fn *is_left, void *ctx)
{
        struct counting n = { NULL, is_left, ctx, false };
        struct group_rest unused = { 0 };

        group_each(s, g, find_left, &n, &unused);
        return n.any;
}

bool heap_census_add(struct heap_census *c, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        const bool is_thread = t->type == TSO;

        if (!make_room(c, t->id) || (is_thread && !ARRAY_RESERVE(c->threads, c->threads_capacity, c->n_threads + 1))) {
                c->out_of_memory = true;
                return false;
        }
        if (c->is_first)
                c->pinned_first_bytes += bytes;
        c->is_first = false;
        c->bytes[t->id] += bytes;
        c->objects[t->id]++;
        c->total_bytes += bytes;
        c->total_objects++;
        if (is_thread)
                c->threads[c->n_threads++] = at;
        return c->contents && heap_contents_add(c->contents, t, at, bytes);
}

static void count_closure(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        const struct counting *n = ctx;

        if (!n->is_left || n->is_left(n->ctx, t, at))
                (void)heap_census_add(n->census, t, at, bytes);
}

void heap_census_count_group(struct heap_census *c, const struct heap_snapshot *s, const struct heap_group *g,
                             is_left_fn *is_left, void *ctx)
{
        struct counting n = { c, is_left, ctx, false };
        const uint64_t before = c->total_bytes;
        const uint64_t unused_before = c->rest.unused_bytes;

        c->is_first = g->flags & BLOCK_PINNED;
        group_each(s, g, count_closure, &n, &c->rest);
        if (is_left)
                c->rest.unused_bytes = unused_before;
        if (g->flags & BLOCK_PINNED) {
                c->pinned_blocks += g->blocks;
                c->pinned_bytes += c->total_bytes - before;
        }
}

void heap_census_count_left(struct heap_census *c, const struct heap_snapshot *s, is_left_fn *is_left, void *ctx)
{
        uint64_t regions = 0;

        for (size_t i = 0; i < s->n_groups; i++) {
                const struct heap_group *g = &s->groups[i];
                const uint64_t before = c->total_bytes;

                if (g->kind == GROUP_YOUNG)
                        c->young_bytes += g->end - g->start;
                if (g->kind == GROUP_OTHER || (!is_left && !heap_group_is_counted(g)))
                        continue;
                const bool is_pinned = g->flags & BLOCK_PINNED;
                if (is_left && is_pinned && !has_left(s, g, is_left, ctx))
                        continue;
                heap_census_count_group(c, s, g, is_pinned ? NULL : is_left, ctx);
                c->large_objects += g->kind == GROUP_LARGE && !is_pinned;
                if (g->kind == GROUP_COMPACT) {
                        c->compact_bytes += c->total_bytes - before;
                        regions += g->end - g->start;
                }
        }
        if (!is_left && regions > c->compact_bytes) { /* parts of a region whose closure was not found */
                c->rest.unknown_bytes += regions - c->compact_bytes;
                c->rest.met[COMPACT_NFDATA]++;
        }
}

void heap_census_count(struct heap_census *c, const struct heap_snapshot *s)
{
        heap_census_count_left(c, s, NULL, NULL);
}

void heap_census_done(struct heap_census *c)
{
        free(c->bytes);
        free(c->objects);
        free(c->threads);
        *c = (struct heap_census){ 0 };
}
