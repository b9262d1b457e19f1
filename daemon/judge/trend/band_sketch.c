/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a histogram whose resolution adapts to its values, as in the
 * exponential histograms of metrics systems, so slices merge exactly up to the
 * width of a cell: a wider cell is always two whole narrower ones.
 *
 * A sample costs one increment in `now`; when time leaves that slice it is
 * merged into the four rings and the total, as in band_windows.c. To read, all
 * cells of a range, each with its own width, are sorted by their middles.
 */
#include "daemon/judge/trend/band_sketch.h"

#include <math.h>

#define PLACE_BITS  (BAND_SKETCH_BITS + 1) /* two places per finest cell, so that the middle of each cell is a place */
#define SLICES_READ (BAND_SLICES + 1)
#define SHIFT_MAX   32u /* 2^48 samples of one value */

const struct rings_shape band_sketch_shape = {
        .n = BAND_RINGS,
        .most = BAND_SLICES,
        .grain = 1,
        .size = { sizeof(struct band_cells), sizeof(struct band_cells), sizeof(struct band_cells),
                  sizeof(struct band_cells) },
};

void band_sketch_done(struct band_sketch *s)
{
        rings_done(&s->slices);
        memset(s, 0, sizeof(*s));
}

/* ------------------------------------------------------------------- cells */

static bool is_empty(const struct band_cells *c)
{
        unsigned any = c->zeros;

        for (unsigned i = 0; i < BAND_CELLS; i++)
                any |= c->counts[i];
        return !any;
}

/*
 * samples / 2^shift as a whole number, rounded up with the probability of the remainder, so that neither rare values
 * are lost nor many small additions inflated. Deterministic for the same samples.
 */
static uint64_t share_samples(uint64_t samples, unsigned shift, uint32_t *dither)
{
        uint64_t rest = samples & ((UINT64_C(1) << shift) - 1);

        if (!rest)
                return samples >> shift;
        *dither = *dither * 1664525u + 1013904223u;
        return (samples >> shift) + (((uint64_t)*dither << shift) >> 32 < rest);
}

static void add_to(struct band_cells *c, uint16_t *count, uint64_t samples, uint32_t *dither)
{
        while ((samples >> c->shift) + *count >= UINT16_MAX && c->shift < SHIFT_MAX) {
                for (unsigned i = 0; i < BAND_CELLS; i++)
                        c->counts[i] = (uint16_t)share_samples(c->counts[i], 1, dither);
                c->zeros = (uint16_t)share_samples(c->zeros, 1, dither);
                c->shift++;
        }
        uint64_t sum = share_samples(samples, c->shift, dither) + *count;
        *count = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

/* Cells twice as wide. */
static void widen_cells(struct band_cells *c, uint32_t *dither)
{
        struct band_cells old = *c;

        memset(c->counts, 0, sizeof(c->counts));
        c->base = old.base / 2;
        c->scale++;
        for (unsigned i = 0; i < BAND_CELLS; i++)
                if (old.counts[i])
                        add_to(c, &c->counts[(old.base + i) / 2 - c->base], (uint64_t)old.counts[i] << old.shift,
                               dither);
}

/* Puts the filled cells low..high, at most BAND_CELLS, in the middle. */
static void centre_range(struct band_cells *c, unsigned low, unsigned high)
{
        struct band_cells old = *c;
        unsigned margin = (BAND_CELLS - (high - low + 1)) / 2;

        memset(c->counts, 0, sizeof(c->counts));
        c->base = (uint16_t)(low > margin ? low - margin : 0);
        for (unsigned i = 0; i < BAND_CELLS; i++)
                if (old.counts[i])
                        c->counts[old.base + i - c->base] = old.counts[i];
}

/* The place of a finest cell; moves and widens the cells when needed. */
static unsigned place_cell(struct band_cells *c, unsigned cell, uint32_t *dither)
{
        for (;;) {
                unsigned n = cell >> c->scale, low = n, high = n;

                if (n - c->base < BAND_CELLS)
                        return n - c->base;
                for (unsigned i = 0; i < BAND_CELLS; i++) {
                        unsigned at = c->base + i;
                        if (c->counts[i] && at < low)
                                low = at;
                        if (c->counts[i] && at > high)
                                high = at;
                }
                if (high - low < BAND_CELLS)
                        centre_range(c, low, high);
                else
                        widen_cells(c, dither);
        }
}

static void add_samples(struct band_cells *c, unsigned cell, uint64_t samples, uint32_t *dither)
{
        unsigned at = place_cell(c, cell, dither);

        add_to(c, &c->counts[at], samples, dither);
}

static void merge_cells(struct band_cells *to, const struct band_cells *from, bool zeros, uint32_t *dither)
{
        while (to->scale < from->scale)
                widen_cells(to, dither);
        for (unsigned i = 0; i < BAND_CELLS; i++)
                if (from->counts[i])
                        add_samples(to, (from->base + i) << from->scale, (uint64_t)from->counts[i] << from->shift,
                                    dither);
        if (zeros && from->zeros)
                add_to(to, &to->zeros, (uint64_t)from->zeros << from->shift, dither);
}

/* ------------------------------------------------------------------ slices */

/* The slice of a ring, emptied when it is new; NULL when it has left the ring, or there is no memory for it. */
static struct band_cells *slice_of(struct band_sketch *s, unsigned ring, uint32_t index)
{
        unsigned place = band_ring_place(&band_sketch_shape, &s->slices, ring, &s->phases[ring], index);
        uint32_t *newest = &s->newest[ring];

        if (index > *newest) {
                uint32_t n = index - *newest < BAND_SLICES ? index - *newest : BAND_SLICES;
                for (uint32_t i = 0; i < n; i++) {
                        struct band_cells *old =
                                rings_at(&band_sketch_shape, &s->slices, ring, (place + BAND_SLICES - i) % BAND_SLICES);
                        if (old)
                                *old = (struct band_cells){ 0 };
                }
                *newest = index;
        }
        return *newest - index < BAND_SLICES ? rings_reach(&band_sketch_shape, &s->slices, ring, place) : NULL;
}

static void into_rings(struct band_sketch *s, const struct band_cells *from, uint32_t index)
{
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                struct band_cells *to = slice_of(s, r, index / band_ring_fans[r]);
                if (to)
                        merge_cells(to, from, true, &s->dither);
        }
        merge_cells(&s->total, from, false, &s->dither);
}

static void flush_open(struct band_sketch *s)
{
        if (!is_empty(&s->now))
                into_rings(s, &s->now, s->index);
        s->now = (struct band_cells){ 0 };
}

static void count_one(struct band_cells *c, double bytes, uint32_t *dither)
{
        if (bytes < 1)
                add_to(c, &c->zeros, 1, dither);
        else
                add_samples(c, band_cell(bytes), 1, dither);
}

static bool is_nearly_full(const struct band_cells *c)
{
        unsigned most = c->zeros;

        for (unsigned i = 0; i < BAND_CELLS; i++)
                most = c->counts[i] > most ? c->counts[i] : most;
        return most >= UINT16_MAX - 1;
}

void band_sketch_push_slowly(struct band_sketch *s, uint32_t index, double bytes)
{
        if (index == s->index && bytes < 1 && s->now.zeros < UINT16_MAX - 1) {
                s->now.zeros++; /* a census without the band */
                return;
        }
        if (index < s->index) {
                struct band_cells late = { 0 };
                count_one(&late, bytes, &s->dither);
                into_rings(s, &late, index);
                return;
        }
        if (index > s->index || is_nearly_full(&s->now))
                flush_open(s);
        s->index = index;
        count_one(&s->now, bytes, &s->dither);
        if (s->now.shift)
                flush_open(s); /* two cells that were nearly full have become one */
}

/* ----------------------------------------------------------------- reading */

struct mark {
        unsigned place; /* of the cell's middle */
        uint64_t samples;
};

struct marks {
        struct mark list[SLICES_READ * (BAND_CELLS + 1)]; /* rising */
        unsigned n;
        uint64_t samples;
};

static void insert_mark(struct marks *m, unsigned at, uint64_t samples)
{
        unsigned i = m->n++;

        for (; i > 0 && m->list[i - 1].place > at; i--)
                m->list[i] = m->list[i - 1];
        m->list[i] = (struct mark){ at, samples };
        m->samples += samples;
}

static void gather_marks(struct marks *m, const struct band_cells *c, bool zeros)
{
        if (zeros && c->zeros)
                insert_mark(m, 0, (uint64_t)c->zeros << c->shift);
        for (unsigned i = 0; i < BAND_CELLS; i++)
                if (c->counts[i])
                        insert_mark(m, (2 * (c->base + i) + 1) << c->scale, (uint64_t)c->counts[i] << c->shift);
}

/* Place 0 is 0 bytes; cells begin at 1 byte. */
static double value_of(unsigned place)
{
        return place ? sketch_real_low(PLACE_BITS, place) : 0;
}

static void gather_range(const struct band_sketch *s, struct time_range range, struct marks *m)
{
        struct band_reach r = band_reach(range, s->index);
        uint64_t newest = s->newest[r.ring], now = s->index / band_ring_fans[r.ring];

        for (uint64_t back = 0; back < BAND_SLICES && back <= newest; back++) {
                uint64_t i = newest - back;
                const struct band_cells *cells = rings_at(&band_sketch_shape, &s->slices, r.ring,
                                                          (unsigned)(i + s->phases[r.ring]) % BAND_SLICES);
                if (cells && i >= r.from && i <= r.last)
                        gather_marks(m, cells, true);
        }
        if (now >= r.from && now <= r.last)
                gather_marks(m, &s->now, true);
}

static double quantile_of(const struct marks *m, double q)
{
        uint64_t rank = (uint64_t)ceil(q * (double)m->samples), seen = 0;
        unsigned i = 0;

        while (i + 1 < m->n && (seen += m->list[i].samples) < rank)
                i++;
        return value_of(m->list[i].place);
}

bool band_sketch_quantiles(const struct band_sketch *s, struct time_range range, const double *q, unsigned n,
                           double *ret)
{
        struct marks m;

        m.n = 0;
        m.samples = 0;
        if (range.from_ns == 0) {
                gather_marks(&m, &s->total, false);
                gather_marks(&m, &s->now, false);
        } else if (range.from_ns < range.to_ns) {
                gather_range(s, range, &m);
        }
        if (!m.n)
                return false;
        for (unsigned i = 0; i < n; i++)
                ret[i] = quantile_of(&m, q[i]);
        return true;
}
