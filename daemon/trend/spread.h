/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spread.h - how the values of one series are spread, and the area under it.
 *
 * Four rings of slices (1 min, 5 min, 30 min, 2 h wide; a little longer than
 * 10 min, 1 h, 6 h, 24 h) and one slice for the whole run. A slice counts values in log-linear
 * cells, 32 to a power of two, of which only the filled ones are kept: a
 * quantile is within 1/64 of a value that was there. Memory grows with how many
 * different values there are, to about 10 kB for a series of a day; a ring
 * has no more slices than the life of the series has needed so far.
 *
 * The area is that under the line through the samples as they came, in the
 * slice of the later one; a sample older than the one before adds nothing.
 */
#ifndef HW_DAEMON_TREND_SPREAD_H
#define HW_DAEMON_TREND_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPREAD_RINGS 4u

struct spread_cell {
        uint16_t cell;
        uint32_t count;
};

struct spread_slice {
        uint64_t index; /* time / width; meaningful when used */
        double area;
        struct spread_cell *cells; /* n of them, rising */
        uint16_t n, room;
        uint16_t newest; /* place of the cell that was counted last */
        bool used;
        bool lost; /* a value found no memory: no quantile */
};

struct spread {
        struct spread_slice *rings[SPREAD_RINGS]; /* room[r] slices; NULL: none yet */
        uint32_t room[SPREAD_RINGS];
        uint64_t newest[SPREAD_RINGS]; /* index of the newest slice */
        bool rolled[SPREAD_RINGS];     /* a slice has left the ring */
        struct spread_slice total;
        uint64_t last_ns; /* newest sample; meaningful when total.used */
        double last;
        size_t held_bytes;
};

void spread_init(struct spread *s);
void spread_done(struct spread *s);

void spread_push(struct spread *s, uint64_t time_ns, uint64_t value);

/*
 * Over the slices that begin in [from_ns, to_ns), at least the newest of these;
 * from_ns 0: the whole run. NaN when there is no value.
 */
double spread_quantile(const struct spread *s, uint64_t from_ns, uint64_t to_ns, double q);
double spread_area(const struct spread *s, uint64_t from_ns, uint64_t to_ns);

#endif
