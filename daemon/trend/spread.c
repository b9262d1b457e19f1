/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: as the rings of model/series.h, but a slice is a sparse histogram.
 * Every value is counted once in each ring, so no ring has to be made from
 * another one and late values find their slices. A slot that is taken over by
 * a new slice keeps the memory of its cells.
 */
#include "daemon/trend/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND     UINT64_C(1000000000)
#define PARTS      32u /* cells to a power of two */
#define PARTS_LOG  5u
#define ROOM_FIRST 32u /* cells of a slice */
#define RING_FIRST 4u  /* slices of a young ring */
#define CELLS      (PARTS * (64 - PARTS_LOG + 1))

static const struct {
        uint64_t width_ns;
        uint32_t slices;
} shapes[SPREAD_RINGS] = {
        { 60 * SECOND, 11 },
        { 300 * SECOND, 13 },
        { 1800 * SECOND, 13 },
        { 7200 * SECOND, 13 },
};

void spread_init(struct spread *s)
{
        *s = (struct spread){ 0 };
}

void spread_done(struct spread *s)
{
        for (unsigned r = 0; r < SPREAD_RINGS; r++) {
                for (uint32_t i = 0; i < s->room[r]; i++)
                        free(s->rings[r][i].cells);
                free(s->rings[r]);
        }
        free(s->total.cells);
        *s = (struct spread){ 0 };
}

/* ------------------------------------------------------------------- cells */

static uint16_t cell_of(uint64_t value)
{
        if (value < PARTS)
                return (uint16_t)value;
        unsigned e = 63u - (unsigned)__builtin_clzll(value);
        return (uint16_t)(PARTS * (e - PARTS_LOG) + (value >> (e - PARTS_LOG)));
}

/* The middle of a cell. */
static double value_of(unsigned cell)
{
        if (cell < 2 * PARTS)
                return cell;
        unsigned shift = cell / PARTS - 1;
        return ldexp((double)(cell % PARTS + PARTS) + 0.5, (int)shift) - 0.5;
}

static bool make_room(struct spread *s, struct spread_slice *slice)
{
        uint16_t room = slice->room ? (uint16_t)(slice->room * 2) : ROOM_FIRST;

        if (slice->n < slice->room)
                return true;
        struct spread_cell *cells = realloc(slice->cells, room * sizeof(*cells));
        if (!cells)
                return false;
        s->held_bytes += (size_t)(room - slice->room) * sizeof(*cells);
        slice->cells = cells;
        slice->room = room;
        return true;
}

/* The place of a cell, or the one where it belongs. Values repeat: most are in the cell of the one before. */
static uint16_t find(const struct spread_slice *slice, uint16_t cell)
{
        uint16_t low = 0, high = slice->n;

        if (slice->newest < slice->n && slice->cells[slice->newest].cell == cell)
                return slice->newest;
        while (low < high) {
                uint16_t middle = (uint16_t)((low + high) / 2);
                if (slice->cells[middle].cell < cell)
                        low = (uint16_t)(middle + 1);
                else
                        high = middle;
        }
        return low;
}

static void count(struct spread *s, struct spread_slice *slice, uint16_t cell)
{
        uint16_t low = find(slice, cell);

        if (low == slice->n || slice->cells[low].cell != cell) {
                if (!make_room(s, slice)) {
                        slice->lost = true;
                        return;
                }
                memmove(&slice->cells[low + 1], &slice->cells[low], (slice->n - low) * sizeof(*slice->cells));
                slice->cells[low] = (struct spread_cell){ .cell = cell };
                slice->n++;
        }
        slice->newest = low;
        slice->cells[low].count += slice->cells[low].count < UINT32_MAX;
}

/* ------------------------------------------------------------------ slices */

static void begin(struct spread_slice *slice, uint64_t index)
{
        *slice = (struct spread_slice){ .index = index, .cells = slice->cells, .room = slice->room, .used = true };
}

/* How many slices a ring needs to hold all it has beside `index`. */
static uint64_t span_with(const struct spread *s, unsigned ring, uint64_t index)
{
        uint64_t oldest = index, newest = index;

        for (uint32_t i = 0; i < s->room[ring]; i++) {
                const struct spread_slice *slice = &s->rings[ring][i];
                if (slice->used && slice->index < oldest)
                        oldest = slice->index;
                if (slice->used && slice->index > newest)
                        newest = slice->index;
        }
        return newest - oldest + 1;
}

/* Moves a slice into a larger ring. Of two that share a place there the newer one stays, as in a ring of that size. */
static void move_slice(struct spread *s, unsigned ring, struct spread_slice *to, struct spread_slice from)
{
        if (!from.used || (to->used && to->index > from.index)) {
                s->rolled[ring] |= from.used;
                s->held_bytes -= from.room * sizeof(*from.cells);
                free(from.cells);
                return;
        }
        s->rolled[ring] |= to->used;
        s->held_bytes -= to->room * sizeof(*to->cells);
        free(to->cells);
        *to = from;
}

/* Makes the ring at least twice as long, or as long as it may be; false when it cannot grow. */
static bool grow(struct spread *s, unsigned ring, uint64_t index)
{
        uint32_t old = s->room[ring], full = shapes[ring].slices, room = old ? 2 * old : RING_FIRST;
        uint64_t span = span_with(s, ring, index);

        if (old == full)
                return false;
        if (room < span)
                room = span < full ? (uint32_t)span : full;
        if (room > full)
                room = full;
        struct spread_slice *slices = calloc(room, sizeof(*slices));
        if (!slices)
                return false;
        for (uint32_t i = 0; i < old; i++)
                move_slice(s, ring, &slices[s->rings[ring][i].index % room], s->rings[ring][i]);
        free(s->rings[ring]);
        s->rings[ring] = slices;
        s->room[ring] = room;
        s->held_bytes += (room - old) * sizeof(*slices);
        return true;
}

/* The slice of a time; NULL when it has left the ring, or there is no memory for one. */
static struct spread_slice *slice_of(struct spread *s, unsigned ring, uint64_t time_ns)
{
        uint64_t index = time_ns / shapes[ring].width_ns;
        struct spread_slice *slice = NULL;

        do {
                slice = s->room[ring] ? &s->rings[ring][index % s->room[ring]] : NULL;
        } while ((!slice || (slice->used && slice->index != index)) && grow(s, ring, index));
        if (!slice)
                return NULL;
        if (!slice->used) {
                begin(slice, index);
        } else if (slice->index < index) {
                s->rolled[ring] = true;
                begin(slice, index);
        } else if (slice->index > index) {
                return NULL;
        }
        if (index > s->newest[ring])
                s->newest[ring] = index;
        return slice;
}

void spread_push(struct spread *s, uint64_t time_ns, uint64_t value)
{
        uint16_t cell = cell_of(value);
        double area = 0;

        if (s->total.used && time_ns > s->last_ns)
                area = (s->last + (double)value) / 2 * ((double)(time_ns - s->last_ns) / 1e9);
        if (!s->total.used || time_ns >= s->last_ns) {
                s->last_ns = time_ns;
                s->last = (double)value;
        }
        s->total.used = true;
        s->total.area += area;
        count(s, &s->total, cell);
        for (unsigned r = 0; r < SPREAD_RINGS; r++) {
                struct spread_slice *slice = slice_of(s, r, time_ns);
                if (!slice)
                        continue;
                slice->area += area;
                count(s, slice, cell);
        }
}

/* ----------------------------------------------------------------- reading */

static unsigned choose(const struct spread *s, uint64_t from_ns)
{
        unsigned r = 0;

        for (; r + 1 < SPREAD_RINGS; r++) {
                uint64_t from = from_ns / shapes[r].width_ns, kept = shapes[r].slices;
                if (!s->rolled[r] || from + kept > s->newest[r])
                        break;
        }
        return r;
}

/* Calls `each` for the slices of a stretch. */
static void each_slice(const struct spread *s, uint64_t from_ns, uint64_t to_ns,
                       void (*each)(void *ctx, const struct spread_slice *slice), void *ctx)
{
        if (!s->total.used || from_ns >= to_ns)
                return;
        if (from_ns == 0 && to_ns > s->last_ns) {
                each(ctx, &s->total);
                return;
        }
        unsigned r = choose(s, from_ns);
        uint64_t width = shapes[r].width_ns, last = (to_ns - 1) / width;
        uint64_t from = from_ns / width + (from_ns % width != 0);
        if (from > last)
                from = last;
        for (uint32_t i = 0; i < s->room[r]; i++) {
                const struct spread_slice *slice = &s->rings[r][i];
                if (slice->used && slice->index >= from && slice->index <= last)
                        each(ctx, slice);
        }
}

struct sums {
        uint64_t counts[CELLS];
        uint64_t n;
        double area;
        bool any, lost;
};

static void add_counts(void *ctx, const struct spread_slice *slice)
{
        struct sums *sums = ctx;

        for (uint16_t i = 0; i < slice->n; i++) {
                sums->counts[slice->cells[i].cell] += slice->cells[i].count;
                sums->n += slice->cells[i].count;
        }
        sums->lost |= slice->lost;
}

double spread_quantile(const struct spread *s, uint64_t from_ns, uint64_t to_ns, double q)
{
        struct sums sums = { .n = 0 };
        uint64_t seen = 0;

        each_slice(s, from_ns, to_ns, add_counts, &sums);
        if (!sums.n || sums.lost || !(q >= 0 && q <= 1))
                return NAN;
        uint64_t rank = (uint64_t)ceil(q * (double)sums.n);
        for (unsigned i = 0; i < CELLS; i++) {
                seen += sums.counts[i];
                if (seen >= rank && sums.counts[i])
                        return value_of(i);
        }
        return NAN;
}

static void add_area(void *ctx, const struct spread_slice *slice)
{
        struct sums *sums = ctx;

        sums->area += slice->area;
        sums->any = true;
}

double spread_area(const struct spread *s, uint64_t from_ns, uint64_t to_ns)
{
        struct sums sums = { .n = 0 };

        each_slice(s, from_ns, to_ns, add_area, &sums);
        return sums.any ? sums.area : NAN;
}
