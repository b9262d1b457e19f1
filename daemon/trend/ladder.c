/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: rings without indices. Bucket number k of a level (counted from the
 * first minute of the run) lives at k % 48, and the number of buckets that a
 * level has completed is minutes / 4^level, so one counter describes them all.
 *
 *      level 0   |.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|     1 minute
 *      level 1   |.......|.......|.......|.......|     mean of the lower half of four floors
 *      level 2   |...............................|     the same again
 *
 * The mean of the lower half has the advantage of a minimum (spikes and bursts leave no
 * trace) and still averages noise, which a minimum over hours does not: its scatter would
 * not shrink with the width.
 */
#include "daemon/trend/ladder.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

void ladder_init(struct ladder *l)
{
        l->minutes = 0;
        for (unsigned r = 0; r < LADDER_LEVELS; r++)
                for (unsigned i = 0; i < LADDER_BUCKETS; i++)
                        l->floors[r][i] = NAN;
        for (unsigned r = 0; r < LADDER_HIGH_LEVELS; r++)
                for (unsigned i = 0; i < LADDER_BUCKETS; i++)
                        l->highs[r][i] = (float)NAN;
}

unsigned ladder_kept(const struct ladder *l, unsigned level)
{
        uint64_t count = ladder_count(l, level);

        return count < LADDER_BUCKETS ? (unsigned)count : LADDER_BUCKETS;
}

static unsigned place(const struct ladder *l, unsigned level, unsigned age)
{
        assert(age < ladder_kept(l, level));
        return (unsigned)((ladder_count(l, level) - 1 - age) % LADDER_BUCKETS);
}

double ladder_floor(const struct ladder *l, unsigned level, unsigned age)
{
        return l->floors[level][place(l, level, age)];
}

void ladder_newest(const struct ladder *l, unsigned level, unsigned n, double *ret)
{
        const double *floors = l->floors[level];

        if (n == 0)
                return;
        unsigned first = place(l, level, n - 1), to_end = LADDER_BUCKETS - first;
        unsigned head = n < to_end ? n : to_end;
        memcpy(ret, floors + first, head * sizeof(*ret));
        memcpy(ret + head, floors, (n - head) * sizeof(*ret));
}

double ladder_high(const struct ladder *l, unsigned level, unsigned age)
{
        assert(level < LADDER_PLAIN_LEVELS + LADDER_HIGH_LEVELS);
        if (level < LADDER_PLAIN_LEVELS)
                return ladder_floor(l, level, age);
        return (double)l->highs[level - LADDER_PLAIN_LEVELS][place(l, level, age)];
}

/* Mean of the lower half (rounded up) of the filled buckets among the four newest; NaN when all are empty. */
static double floor_of_children(const struct ladder *l, unsigned level)
{
        double filled[LADDER_FAN];
        unsigned k = 0;

        for (unsigned age = 0; age < LADDER_FAN; age++) {
                double v = ladder_floor(l, level, age);
                unsigned at = k;

                if (isnan(v))
                        continue;
                for (; at > 0 && filled[at - 1] > v; at--)
                        filled[at] = filled[at - 1];
                filled[at] = v;
                k++;
        }
        unsigned half = (k + 1) / 2;
        double sum = 0;
        for (unsigned i = 0; i < half; i++)
                sum += filled[i];
        return half ? sum / half : NAN;
}

/* The largest high among the four newest buckets; NaN when all are empty. */
static double high_of_children(const struct ladder *l, unsigned level)
{
        double high = NAN;

        for (unsigned age = 0; age < LADDER_FAN; age++)
                high = fmax(high, ladder_high(l, level, age));
        return high;
}

unsigned ladder_push(struct ladder *l, double floor)
{
        l->minutes++;
        l->floors[0][place(l, 0, 0)] = floor;

        unsigned gained = 1;
        while (gained < LADDER_LEVELS && l->minutes % ladder_width(gained) == 0) {
                unsigned at = place(l, gained, 0), high_level = gained - LADDER_PLAIN_LEVELS;

                l->floors[gained][at] = floor_of_children(l, gained - 1);
                if (gained >= LADDER_PLAIN_LEVELS && high_level < LADDER_HIGH_LEVELS)
                        l->highs[high_level][at] = (float)high_of_children(l, gained - 1);
                gained++;
        }
        return gained;
}

static bool is_empty(const struct ladder *l, unsigned level)
{
        unsigned kept = ladder_kept(l, level), filled = 0; /* in places 0 .. kept - 1, in whatever order */

        for (unsigned i = 0; i < kept; i++)
                filled += !isnan(l->floors[level][i]);
        return filled == 0;
}

unsigned ladder_empty_levels(const struct ladder *l)
{
        unsigned level = 0;

        while (level < LADDER_LEVELS && is_empty(l, level))
                level++;
        return level;
}

void ladder_pass(struct ladder *l, uint64_t n)
{
        l->minutes += n; /* empty buckets take the places of empty buckets */
}
