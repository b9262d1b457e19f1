/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: samples come as slices of the finest width (band_now.h collects them) and are merged into all four rings. The
 * other widths are multiples of that one, so a slice never straddles two. Late ones go into the rings that still have
 * their slice.
 */
#include "daemon/judge/trend/band_windows.h"

#include "proto/base/ckd.h"
#include "proto/base/edge.h"

const uint32_t band_ring_fans[BAND_RINGS] = { 1, 6, 36, 144 };

const struct rings_shape band_windows_shape = {
        .n = BAND_RINGS,
        .most = BAND_SLICES,
        .grain = 1,
        .size = { sizeof(struct band_slice), sizeof(struct band_slice), sizeof(struct band_slice),
                  sizeof(struct band_slice) },
};

void band_windows_done(struct band_windows *w)
{
        rings_done(&w->slices);
        *w = (struct band_windows){ .area = 0 };
}

/* The slices of a ring: n of them, in no particular order. */
static const struct band_slice *slices_of(const struct band_windows *w, unsigned ring, unsigned *ret_n)
{
        *ret_n = rings_room(&band_windows_shape, &w->slices, ring);
        return rings_at(&band_windows_shape, &w->slices, ring, 0);
}

static uint64_t width_of(unsigned ring)
{
        return band_ring_fans[ring] * BAND_SLICE_NS;
}

static struct trend_cell unpack_slice(const struct band_slice *s, uint64_t width_ns)
{
        return packed_cell_unpack(&s->cell, s->index * width_ns, width_ns);
}

struct band_reach band_reach(struct time_range range, uint64_t newest)
{
        uint64_t oldest = range.from_ns / BAND_SLICE_NS;
        struct band_reach r = { .ring = 0 };

        while (r.ring + 1 < BAND_RINGS &&
               oldest / band_ring_fans[r.ring] + BAND_SLICES <= newest / band_ring_fans[r.ring])
                r.ring++;
        r.width_ns = width_of(r.ring);
        r.from = range.from_ns / r.width_ns + (range.from_ns % r.width_ns != 0);
        r.last = (range.to_ns - 1) / r.width_ns;
        if (r.from > r.last)
                r.from = r.last;
        return r;
}

void band_windows_add(struct band_windows *w, const struct band_samples *samples)
{
        uint64_t last_ns = samples->cell.cell.last_ns;

        w->area += samples->area;
        if (last_ns > w->last_ns)
                w->last_ns = last_ns;
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint64_t width_ns = width_of(r);
                uint32_t index = (uint32_t)(last_ns / width_ns); /* below 2^28: times have 64 bits */
                unsigned place = band_ring_place(&band_windows_shape, &w->slices, r, &w->phases[r], index);
                struct band_slice *s = rings_reach(&band_windows_shape, &w->slices, r, place);
                if (!s || (s->cell.n && s->index > index))
                        continue; /* too late for this ring; the wider ones take it */
                if (!s->cell.n || s->index < index)
                        *s = (struct band_slice){ .index = index };
                struct trend_cell sum = unpack_slice(s, width_ns);
                trend_cell_merge(&sum, &samples->cell);
                s->cell = packed_cell_of(&sum, index * width_ns, width_ns);
                s->area += (float)samples->area;
        }
}

/* ----------------------------------------------------------------- reading */

static uint64_t newest_ns(const struct band_windows *w, const struct band_samples *waiting)
{
        uint64_t last_ns = waiting ? waiting->cell.cell.last_ns : 0;

        return last_ns > w->last_ns ? last_ns : w->last_ns;
}

bool band_windows_reach(const struct band_windows *w, uint64_t from_ns)
{
        uint64_t width_ns = width_of(BAND_RINGS - 1);

        return from_ns / width_ns + BAND_SLICES > w->last_ns / width_ns;
}

static void add_samples(struct range_samples *sum, const struct trend_cell *cell, double area)
{
        if (!sum->all.cell.n || cell->t_mean < sum->oldest.t_mean)
                sum->oldest = *cell;
        trend_cell_merge(&sum->all, cell);
        sum->area += area;
}

bool band_windows_span(const struct band_windows *w, const struct band_samples *waiting, struct time_range range,
                       struct range_samples *ret)
{
        uint64_t last_ns = newest_ns(w, waiting);

        *ret = (struct range_samples){ .area = 0 };
        if (range.from_ns >= range.to_ns)
                return false;
        struct band_reach r = band_reach(range, last_ns / BAND_SLICE_NS);
        unsigned n;
        const struct band_slice *slices = slices_of(w, r.ring, &n);
        for (unsigned i = 0; i < n; i++) {
                const struct band_slice *s = &slices[i];
                if (s->cell.n && s->index >= r.from && s->index <= r.last &&
                    s->index + BAND_SLICES > last_ns / r.width_ns) {
                        const struct trend_cell cell = unpack_slice(s, r.width_ns);
                        add_samples(ret, &cell, (double)s->area);
                }
        }
        if (waiting) {
                uint64_t index = waiting->cell.cell.last_ns / r.width_ns;
                if (index >= r.from && index <= r.last)
                        add_samples(ret, &waiting->cell, waiting->area);
        }
        return ret->all.cell.n > 0;
}

/* Both edges of a slice. */
static void meet_slice(struct edge *edge, uint64_t index, uint64_t width_ns, struct time_range range)
{
        edge_meet_range(edge, index * width_ns, range);
        edge_meet_range(edge, (index + 1) * width_ns, range);
}

uint64_t band_windows_still(const struct band_windows *w, const struct band_samples *waiting, struct time_range range)
{
        uint64_t last[] = { w->last_ns / BAND_SLICE_NS, newest_ns(w, waiting) / BAND_SLICE_NS };
        struct edge edge = EDGE_NONE;

        for (unsigned r = 0; r < BAND_RINGS; r++) {
                unsigned n;
                const struct band_slice *slices = slices_of(w, r, &n);
                for (unsigned i = 0; i < n; i++)
                        if (slices[i].cell.n)
                                meet_slice(&edge, slices[i].index, width_of(r), range);
                if (waiting)
                        meet_slice(&edge, waiting->cell.cell.last_ns / width_of(r), width_of(r), range);
                for (unsigned i = 0; i < 2; i++) /* from here on the ring reaches back far enough */
                        edge_meet_range(&edge, sub_sat(last[i] / band_ring_fans[r], BAND_SLICES - 1) * width_of(r),
                                        range);
        }
        return edge.after_ns;
}

bool band_windows_before(const struct band_windows *w, const struct band_samples *waiting, uint64_t time_ns,
                         struct trend_cell *ret)
{
        struct trend_cell newest = { .cell.n = 0 };

        if (waiting && (waiting->cell.cell.last_ns / BAND_SLICE_NS + 1) * BAND_SLICE_NS <= time_ns)
                newest = waiting->cell;
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint64_t width_ns = width_of(r);
                unsigned n;
                const struct band_slice *slices = slices_of(w, r, &n);
                for (unsigned i = 0; i < n; i++) {
                        if (!slices[i].cell.n || (slices[i].index + UINT64_C(1)) * width_ns > time_ns)
                                continue;
                        struct trend_cell c = unpack_slice(&slices[i], width_ns);
                        if (!newest.cell.n || c.cell.last_ns > newest.cell.last_ns)
                                newest = c;
                }
        }
        if (newest.cell.n)
                *ret = newest;
        return newest.cell.n > 0;
}
