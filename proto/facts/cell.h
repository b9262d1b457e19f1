/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cell.h - what is kept of a number over an interval, in daemon and client alike.
 *
 * struct cell is what a picture shows; struct trend_cell has the co-moments of time and value besides, for what is
 * fitted. Both merge exactly (Chan, Golub, LeVeque 1979): a range of any length is a merge of its cells, and no sum of
 * squares is ever formed that would lose digits. A cell whose count is 0 is empty, and the rest of it means nothing.
 *
 * Stores know when a cell begins and which two are merged: pyramid.h (the newest at several widths), fold.h (the whole
 * of a run). Some keep their cells in fewer bytes (packed_cell.c). They work with any type of cell, by its table of
 * functions; samples go into their cells by the user's own inline code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/time.h"

struct cell {
        uint64_t n; /* samples, or what else weighs the mean */
        double mean, min, max;
        double last;      /* at last_ns: the newest */
        uint64_t last_ns; /* 0: not kept */
};

struct trend_cell {
        struct cell cell;        /* comes first */
        double t_mean;           /* in s since the run began */
        double m_tt, m_tv, m_vv; /* sums of products of deviations from the means of time and value */
};

/* Of one interval in a history. */
struct point {
        uint64_t time_ns, width_ns; /* its start; width 0: a single moment */
        struct cell cell;
};

/* A cell of one sample. */
static inline struct cell cell_of(uint64_t time_ns, double value)
{
        return (struct cell){ 1, value, value, value, value, time_ns };
}

/* Either may be empty; of equally new ones `from` has the last value. */
static inline void cell_merge(struct cell *to, const struct cell *from)
{
        if (!from->n)
                return;
        if (!to->n) {
                *to = *from;
                return;
        }
        to->n += from->n;
        to->mean += (from->mean - to->mean) * ((double)from->n / (double)to->n);
        if (from->min < to->min)
                to->min = from->min;
        if (from->max > to->max)
                to->max = from->max;
        if (from->last_ns >= to->last_ns) {
                to->last = from->last;
                to->last_ns = from->last_ns;
        }
}

static inline void cell_add(struct cell *c, uint64_t time_ns, double value)
{
        const struct cell one = cell_of(time_ns, value);

        cell_merge(c, &one);
}

/* The same of cells with co-moments. */
void trend_cell_merge(struct trend_cell *to, const struct trend_cell *from);
void trend_cell_add(struct trend_cell *c, uint64_t time_ns, double value);

/* Of the line of least squares: per second; R^2. NaN: there is none, or all values are equal. */
double trend_cell_slope(const struct trend_cell *c);
double trend_cell_fit(const struct trend_cell *c);

/* Of the samples (n - 1); NaN for fewer than two. */
double trend_cell_deviation(const struct trend_cell *c);

/* -------------------------------------------------------------- for stores */

/* A cell whose bytes are all 0 is empty. */
struct cell_type {
        size_t size;
        bool (*is_empty)(const void *cell);
        void (*reset)(void *cell); /* makes it empty; it may keep the memory it owns */
        void (*merge)(void *to,
                      const void *from); /* adds a later one; either may be empty; NULL: its user never merges */
        void (*done)(void *cell);        /* frees what it owns; NULL: it owns nothing */
};

/* Of both structs. */
bool any_cell_is_empty(const void *cell);
void any_cell_reset(void *cell);
void any_cell_merge(void *to, const void *from);
void any_trend_cell_merge(void *to, const void *from);

#define CELL_TYPE                                                                                                      \
        {                                                                                                              \
                sizeof(struct cell), any_cell_is_empty, any_cell_reset, any_cell_merge, NULL                           \
        }
#define TREND_CELL_TYPE                                                                                                \
        {                                                                                                              \
                sizeof(struct trend_cell), any_cell_is_empty, any_cell_reset, any_trend_cell_merge, NULL               \
        }
