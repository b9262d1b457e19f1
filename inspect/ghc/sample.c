/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - pieces are chosen before anything is known of them, each with the same chance, so the groups of blocks that
 * begin in them are a cluster sample of all groups. What kind a group is, and how much of it is used, is in the
 * descriptors, which are all there: the used bytes x of each piece are known, those of a band y of the chosen ones. The
 * band is its ratio sum(y) / sum(x) times all used bytes; its error is from how y - ratio * x differs between pieces
 * (Cochran, Sampling Techniques, 6.4), so closures of one type beside each other make the interval as wide as it has to
 * be. What was seen is the least that there can be.
 */
#include "inspect/ghc/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/hash.h"
#include "proto/base/outside_census.h"

#define PIECES_A_MEGABLOCK (MEGABLOCK_BLOCKS / PIECE_BLOCKS)
#define PIECES_LEAST       32u
#define LARGE_MOST         16384u               /* large objects that are counted one by one */
#define LARGE_HEAD         128u                 /* bytes of each that are read */
#define A_MEGABLOCK_BYTES  (UINT64_C(48) << 10) /* its descriptors, and what is known of its groups */
#define NORMAL_95          1.96
#define GOLDEN             UINT64_C(0x9e3779b97f4a7c15)

/* -------------------------------------------------------------------------- prepare */

bool heap_sample_prepare(struct heap_sample *x, struct heap_snapshot *s, struct ghc *g, uint64_t sample_bytes,
                         uint64_t most_bytes, struct error *error)
{
        *x = (struct heap_sample){ .seed = x->seed };
        if (!snapshot_prepare_descriptors(s, g, error))
                return false;
        const uint64_t beside = SNAPSHOT_BASE_BYTES + s->heap_bytes / MEGABLOCK_BYTES * A_MEGABLOCK_BYTES +
                                LARGE_MOST * (uint64_t)BLOCK_BYTES;
        const uint64_t room = sub_sat(most_bytes, beside);
        x->n_buffer = (size_t)((room < sample_bytes ? room : sample_bytes) / PIECE_BYTES);
        if (x->n_buffer >= PIECES_LEAST && (x->buffer = malloc(x->n_buffer * PIECE_BYTES))) {
                memset(x->buffer, 1, x->n_buffer * PIECE_BYTES);
                return true;
        }
        snapshot_done(s);
        return error_set(error,
                         "there is not enough memory for a sample of its heap: allow more (--memory), or a smaller "
                         "one (--sample)");
}

uint64_t heap_sample_bytes(const struct heap_sample *x, const struct heap_snapshot *s)
{
        return x->n_buffer * PIECE_BYTES + s->heap_bytes / MEGABLOCK_BYTES * s->each_bytes;
}

void heap_sample_clear(struct heap_sample *x)
{
        for (size_t i = 0; i < x->n_more; i++)
                free(x->more[i]);
        free(x->more);
        free(x->chosen);
        *x = (struct heap_sample){
                .seed = x->seed, .whole_bytes = x->whole_bytes, .buffer = x->buffer, .n_buffer = x->n_buffer
        };
}

void heap_sample_done(struct heap_sample *x)
{
        heap_sample_clear(x);
        free(x->buffer);
        *x = (struct heap_sample){ .seed = x->seed };
}

/* -------------------------------------------------------------------------- choose */

/* So many of all, each set of them with the same chance. */
static bool choose_blocks(struct heap_sample *x, const struct heap_snapshot *s)
{
        x->n_pieces = s->n_megablocks * PIECES_A_MEGABLOCK;
        if (!(x->chosen = calloc(x->n_pieces + 1, 1)))
                return false;
        const size_t n = x->n_buffer < x->n_pieces ? x->n_buffer : x->n_pieces;
        for (size_t i = 0; i < x->n_pieces; i++)
                if (hash_u64((i + 1) * GOLDEN, x->seed) % (x->n_pieces - i) < n - x->n_chosen) {
                        x->chosen[i] = 1;
                        x->n_chosen++;
                }
        return true;
}

static bool is_in_sample(const struct heap_sample *x, const struct heap_snapshot *s, uint64_t at)
{
        const uint64_t place = (at - s->low) / MEGABLOCK_BYTES;
        const size_t megablock = s->places[place] - 1u;

        return x->chosen[megablock * PIECES_A_MEGABLOCK + at % MEGABLOCK_BYTES / PIECE_BYTES];
}

/* ---------------------------------------------------------------------------- copy */

/* A group as its descriptor has it, cut where its megablock ends: what is behind has no descriptors. */
struct extent {
        uint32_t first, blocks;
        bool is_large; /* one object, or a part of a compact region */
};

/* The next group in use that begins in a megablock, from block *at on. */
static bool next_extent(const struct megablock *m, uint32_t *at, struct extent *ret)
{
        struct block_group g;

        while (block_group_next(m->bytes, m->at, at, &g))
                if (g.free != BLOCK_FREE) {
                        const uint32_t first = (uint32_t)((g.start - m->at) / BLOCK_BYTES);
                        const bool is_large =
                                (g.flags & BLOCK_COMPACT) || (g.flags & (BLOCK_LARGE | BLOCK_PINNED)) == BLOCK_LARGE;
                        *ret = (struct extent){ first, *at - first, is_large };
                        return true;
                }
        return false;
}

/* The beginning of a block, unless it is in a piece. */
static bool copy_block(struct heap_sample *x, const struct memory *from, struct megablock *m, uint32_t block, size_t n)
{
        if (m->parts[block])
                return true;
        uint8_t *to = ARRAY_RESERVE(x->more, x->more_capacity, x->n_more + 1) ? calloc(1, BLOCK_BYTES) : NULL;
        if (!to)
                return false;
        m->parts[block] = x->more[x->n_more++] = to;
        x->read_bytes += n;
        return memory_read(from, m->at + (uint64_t)block * BLOCK_BYTES, to, n);
}

static bool copy_piece(struct heap_sample *x, const struct memory *from, struct megablock *m, unsigned piece)
{
        uint8_t *to = x->buffer + x->used_buffer++ * PIECE_BYTES;

        if (!memory_read(from, m->at + piece * PIECE_BYTES, to, PIECE_BYTES))
                return false;
        for (unsigned i = 0; i < PIECE_BLOCKS; i++)
                if (piece * PIECE_BLOCKS + i >= FIRST_BLOCK)
                        m->parts[piece * PIECE_BLOCKS + i] = to + (size_t)i * BLOCK_BYTES;
        x->read_bytes += PIECE_BYTES;
        return true;
}

/* Chosen pieces; of a group that begins in one, what is behind it; the heads of large objects. */
static bool copy_megablock(struct heap_sample *x, struct heap_snapshot *s, size_t number)
{
        const struct memory *from = s->ghc->program->memory;
        struct megablock *m = &s->megablocks[number];
        struct extent e;
        bool good = true;

        for (unsigned i = 0; i < PIECES_A_MEGABLOCK; i++)
                if (x->chosen[number * PIECES_A_MEGABLOCK + i] && !copy_piece(x, from, m, i))
                        return false;
        for (uint32_t at = FIRST_BLOCK; good && next_extent(m, &at, &e);)
                if (e.is_large && x->has_large)
                        good = copy_block(x, from, m, e.first, LARGE_HEAD);
                else if (is_in_sample(x, s, m->at + (uint64_t)e.first * BLOCK_BYTES))
                        for (uint32_t i = 0; i < (e.is_large ? 1 : e.blocks) && good; i++)
                                good = copy_block(x, from, m, e.first + i, BLOCK_BYTES);
        return good;
}

bool heap_sample_copy(struct heap_sample *x, struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx,
                      struct error *error)
{
        struct extent e;
        uint64_t large = 0;

        if (!choose_blocks(x, s))
                return error_set(error, "out of memory");
        for (size_t i = 0; i < s->n_megablocks; i++)
                for (uint32_t at = FIRST_BLOCK; next_extent(&s->megablocks[i], &at, &e);)
                        large += e.is_large;
        x->has_large = large <= LARGE_MOST;
        for (size_t i = 0; i < s->n_megablocks; i++) {
                if (!copy_megablock(x, s, i))
                        return error_set(error, "a part of its heap could not be read");
                if ((s->expired = expired && expired(ctx)))
                        return error_set(error,
                                         "a sample of its heap was not copied within --max-pause; --sample makes it "
                                         "smaller");
        }
        return true;
}

/* ---------------------------------------------------------------------------- count */

/* Over the chosen pieces, of what each has of a band. */
struct sums {
        double all, squares, with_used;
};

struct estimate {
        struct sums bytes, objects;
        uint64_t exact_bytes, exact_objects; /* of large objects */
        uint64_t piece_bytes, piece_objects; /* of the piece that is being counted */
};

struct counting {
        struct heap_sample *sample;
        const struct heap_snapshot *snapshot;
        struct heap_census *census;
        struct heap_band **of_table;
        struct heap_bands *bands;
        struct estimate *estimates; /* of each band */
        uint32_t *touched;          /* bands that the piece has */
        size_t n_touched;
        double used, used_squares; /* of the chosen pieces */
        double all_used;           /* of all */
        bool is_exact;             /* it is large objects that are being counted */
};

static bool is_by_itself(const struct heap_sample *x, const struct heap_group *g)
{
        return x->has_large && (g->kind == GROUP_COMPACT || (g->kind == GROUP_LARGE && !(g->flags & BLOCK_PINNED)));
}

static void add_to_band(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct counting *c = ctx;
        const struct heap_band *band = t->id < c->census->n ? c->of_table[t->id] : NULL;

        if (!band)
                return;
        const size_t number = (size_t)(band - c->bands->items);
        struct estimate *e = &c->estimates[number];
        if (c->is_exact) {
                e->exact_bytes += bytes;
                e->exact_objects++;
                return;
        }
        if (e->piece_objects == 0)
                c->touched[c->n_touched++] = (uint32_t)number;
        e->piece_bytes += bytes;
        e->piece_objects++;
}

static void add_piece(struct sums *s, double y, double used)
{
        s->all += y;
        s->squares += y * y;
        s->with_used += y * used;
}

/* All groups that begin in it are counted. */
static void end_piece(struct counting *c, double used)
{
        for (size_t i = 0; i < c->n_touched; i++) {
                struct estimate *e = &c->estimates[c->touched[i]];
                add_piece(&e->bytes, (double)e->piece_bytes, used);
                add_piece(&e->objects, (double)e->piece_objects, used);
                e->piece_bytes = e->piece_objects = 0;
        }
        c->n_touched = 0;
        c->used += used;
        c->used_squares += used * used;
}

/* Groups are in the order of their addresses, so those of a piece are neighbours. */
static void count_pieces(struct counting *c)
{
        struct group_rest unused = { 0 };
        uint64_t piece = UINT64_MAX;
        double used = 0;

        for (size_t i = 0; i < c->snapshot->n_groups; i++) {
                const struct heap_group *g = &c->snapshot->groups[i];
                c->is_exact = is_by_itself(c->sample, g);
                if (!heap_group_is_counted(g))
                        continue;
                if (c->is_exact) {
                        group_each(c->snapshot, g, add_to_band, c, &unused);
                        continue;
                }
                c->all_used += (double)(g->end - g->start);
                if (!is_in_sample(c->sample, c->snapshot, g->start))
                        continue;
                if (g->start / PIECE_BYTES != piece) {
                        end_piece(c, used);
                        piece = g->start / PIECE_BYTES;
                        used = 0;
                }
                used += (double)(g->end - g->start);
                group_each(c->snapshot, g, add_to_band, c, &unused);
        }
        end_piece(c, used);
}

/* ------------------------------------------------------------------------- estimate */

struct interval {
        uint64_t value, low, high;
};

static uint64_t round_value(double value)
{
        return u64_sat(value + 0.5);
}

static struct interval estimate_interval(const struct counting *c, const struct sums *s, uint64_t exact)
{
        const double n = (double)c->sample->n_chosen, pieces = (double)c->sample->n_pieces;
        const double ratio = c->used > 0 ? s->all / c->used : 0;
        const double squares = s->squares - 2 * ratio * s->with_used + ratio * ratio * c->used_squares;
        const double variance = n > 1 && squares > 0 ? pieces * (pieces - n) / n * squares / (n - 1) : 0;
        const double margin = NORMAL_95 * sqrt(variance), value = ratio * c->all_used;

        return (struct interval){ exact + round_value(value), exact + round_value(fmax(value - margin, s->all)),
                                  exact + round_value(value + margin) };
}

static void put_estimates(const struct counting *c)
{
        c->census->total_bytes = c->census->total_objects = 0;
        for (size_t i = 0; i < c->bands->n; i++) {
                struct heap_band *b = &c->bands->items[i];
                const struct estimate *e = &c->estimates[i];
                const struct interval bytes = estimate_interval(c, &e->bytes, e->exact_bytes);
                const struct interval objects = estimate_interval(c, &e->objects, e->exact_objects);
                b->bytes = bytes.value;
                b->low_bytes = bytes.low;
                b->high_bytes = bytes.high;
                b->objects = objects.value;
                b->low_objects = objects.low;
                b->high_objects = objects.high;
                c->census->total_bytes += b->bytes;
                c->census->total_objects += b->objects;
        }
        const double scale = c->used > 0 ? c->all_used / c->used : 1;
        uint64_t *const sums[] = { &c->census->rest.unknown_bytes, &c->census->rest.unused_bytes,
                                   &c->census->pinned_bytes, &c->census->pinned_first_bytes };
        for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
                *sums[i] = round_value((double)*sums[i] * scale);
}

bool heap_sample_count(struct heap_sample *x, const struct heap_snapshot *s, bool by_type, struct heap_census *ret,
                       struct heap_bands *ret_bands)
{
        struct counting c = { .sample = x, .snapshot = s, .census = ret, .bands = ret_bands };

        /* Which types there are, what is not understood, and what is in pinned blocks, which are all known. */
        uint64_t pinned_blocks = 0;

        for (size_t i = 0; i < c.snapshot->n_groups; i++) {
                const struct heap_group *g = &c.snapshot->groups[i];
                if (!heap_group_is_counted(g))
                        continue;
                pinned_blocks += g->flags & BLOCK_PINNED ? g->blocks : 0;
                if (is_by_itself(c.sample, g) || is_in_sample(c.sample, c.snapshot, g->start))
                        heap_census_count_group(c.census, c.snapshot, g, NULL, NULL);
        }
        c.census->pinned_blocks = pinned_blocks;
        bool good = !ret->out_of_memory && heap_bands_of(ret_bands, ret, s->ghc, by_type);
        c.of_table = good ? heap_bands_of_tables(ret_bands, ret, s->ghc, by_type) : NULL;
        c.estimates = calloc(ret_bands->n + 1, sizeof(*c.estimates));
        c.touched = calloc(ret_bands->n + 1, sizeof(*c.touched));
        good = good && c.of_table && c.estimates && c.touched;
        if (good) {
                count_pieces(&c);
                put_estimates(&c);
                heap_bands_sort(ret_bands);
        }
        free(c.of_table);
        free(c.estimates);
        free(c.touched);
        return good;
}

double heap_sample_spread(const struct heap_sample *x, const struct heap_bands *b)
{
        double total = 0, spread = x->n_chosen < x->n_pieces ? OUTSIDE_CENSUS_UNIT : 0;

        for (size_t i = 0; i < b->n; i++)
                total += (double)b->items[i].bytes;
        for (size_t i = 0; i < b->n; i++) {
                const struct heap_band *band = &b->items[i];
                const double one = census_margin(1, (double)band->bytes, total);
                if (one > 0)
                        spread = fmax(spread, (double)(band->high_bytes - band->bytes) / one);
        }
        return spread;
}

/* Of m pieces none is chosen with a chance of about exp(-m chosen / all), which is 0.05 for 3. */
uint64_t heap_sample_may_miss(const struct heap_sample *x)
{
        return x->n_chosen && x->n_chosen < x->n_pieces ? 3 * x->n_pieces / x->n_chosen * PIECE_BYTES : 0;
}
