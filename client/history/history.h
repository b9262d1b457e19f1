/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - the past of targets gathered from updates: what a chart is drawn
 * from where no daemon can be asked (finished files), and bands finer than the
 * daemon keeps them.
 *
 * It holds one run of each target, the newest. Memory is bounded by the
 * options; what does not fit is thinned, never dropped.
 */
#ifndef HW_CLIENT_HISTORY_HISTORY_H
#define HW_CLIENT_HISTORY_HISTORY_H

#include "client/history/collections.h"
#include "client/history/grid.h"
#include "client/history/past.h"

#define HISTORY_SERIES 16 /* indexed by Hw__Series */

struct history_options {
        bool series;        /* keep samples of series and single collections, too; else bands only */
        bool keep_recent;   /* the past fades, instead of being thinned all alike */
        size_t max_points;  /* of a series */
        size_t max_columns; /* censuses or stretches of them */
        size_t max_cells;   /* bands times columns, of all targets together */
};

struct history_target {
        uint32_t run;
        struct past series[HISTORY_SERIES];
        uint64_t samples[HISTORY_SERIES]; /* taken in, before thinning */
        struct collections collections;
        struct grid bands;
};

struct history;

struct history *history_new(const struct history_options *options);
void history_destroy(struct history **h);

/* Takes one update of a daemon in. Borrowed. 0 or -ENOMEM. */
int history_take(struct history *h, size_t daemon, const Hw__Update *update);

/* Forgets all targets of a daemon. */
void history_reset(struct history *h, size_t daemon);

/* NULL: nothing is known of it. Valid until the next call that changes the history. */
struct history_target *history_find(const struct history *h, size_t daemon, const char *target);

#endif
