/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sketch.h - quantile sketches: counts of values in log-linear cells.
 *
 * The precision of a sketch is `bits`: every power of two is cut into 2^bits cells of one width, and whole numbers
 * below 2^bits have a cell each. A cell is the value's floating-point form, cut after that many bits of its fraction:
 *
 *      cell(v) = v                                     for v < 2^bits
 *              = (e - bits) * 2^bits + (v >> (e - bits))   else, e = floor(log2 v)
 *
 * So a cell is at most 1/2^bits of its values wide: its bounds are within that share of every value in it, its middle
 * within half of it. Two sketches of one precision merge exactly, by adding counts.
 *
 * How the cells are kept depends on how many sketches there are: a sorted list of the filled ones (struct sketch, one
 * per generation and dozens per series), or a few that become coarser where their values lie far apart
 * (daemon/judge/trend/band_sketch.h, dozens for each of a thousand bands).
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many cells all values of value_bits bits (at most 64) have. */
#define SKETCH_CELLS(bits, value_bits) (((value_bits) - (bits) + 1u) << (bits))

static inline unsigned sketch_cell(unsigned bits, uint64_t value)
{
        if (value >> bits == 0)
                return (unsigned)value;
        unsigned shift = 63u - (unsigned)__builtin_clzll(value) - bits;
        return (shift << bits) + (unsigned)(value >> shift);
}

/* How many whole numbers a cell holds. */
static inline uint64_t sketch_width(unsigned bits, unsigned cell)
{
        return cell >> bits < 2 ? 1 : UINT64_C(1) << ((cell >> bits) - 1);
}

/* The smallest of them. */
static inline uint64_t sketch_low(unsigned bits, unsigned cell)
{
        uint64_t parts = UINT64_C(1) << bits;

        return cell >> bits < 2 ? cell : (parts + (cell & (parts - 1))) << ((cell >> bits) - 1);
}

static inline double sketch_middle(unsigned bits, unsigned cell)
{
        return (double)sketch_low(bits, cell) + (double)(sketch_width(bits, cell) - 1) / 2;
}

/*
 * The same for values that need not be whole, from 1 to 2^64 and with up to 23 bits: 2^bits cells for every power of
 * two, the first ones too. Cell i at one bit less is cells 2i and 2i + 1.
 */
static inline unsigned sketch_real_cell(unsigned bits, double value)
{
        float f = (float)value;
        uint32_t form;

        memcpy(&form, &f, sizeof(form));
        return (form >> (23 - bits)) - (127u << bits);
}

/* The lower end of such a cell. */
static inline double sketch_real_low(unsigned bits, unsigned cell)
{
        double parts = (double)(1u << bits);

        return ldexp(1 + (double)(cell & ((1u << bits) - 1)) / parts, (int)(cell >> bits));
}

/* ---------------------------------------------------------- the filled cells */

struct __attribute__((packed, aligned(2))) sketch_count {
        uint16_t cell;
        uint32_t count; /* stays at its largest value */
};

/* At most 9 bits, so that a cell's number fits 16. All bytes 0: empty. */
struct sketch {
        struct sketch_count *counts; /* n of them, rising; room for more */
        uint16_t n, room;
        uint16_t newest; /* place of the cell that was counted last */
        bool lost;       /* a value was dropped, out of memory: no quantile is known */
};

/* Returns by how many bytes the sketch has grown. */
size_t sketch_add(struct sketch *s, uint16_t cell);

/* Adds all that another of the same precision has; the same. */
size_t sketch_merge(struct sketch *to, const struct sketch *from);

/* Takes back one value of a cell; false: it has none. */
bool sketch_remove(struct sketch *s, uint16_t cell);

/* Forgets all and keeps the memory; frees it. */
void sketch_clear(struct sketch *s);
void sketch_done(struct sketch *s);

/* Several sketches together, to read a quantile from. */
struct sketch_sum {
        uint64_t *counts; /* n_cells of them, the caller's; all 0 at first */
        unsigned n_cells;
        uint64_t n;
        bool lost;
};

void sketch_sum_add(struct sketch_sum *sum, const struct sketch *s);

/* The middle of the cell that holds the q-quantile (0..1) of all values; NaN: not known. */
double sketch_sum_quantile(const struct sketch_sum *sum, unsigned bits, double q);
