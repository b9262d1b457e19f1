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
#include "daemon/judge/trend/ladder.h"

#include <assert.h>
#include <string.h>

#define FIRST_HIGHS LADDER_LEVELS /* their first ring */

const struct rings_shape ladder_shape = {
        .n = LADDER_LEVELS + LADDER_HIGH_LEVELS,
        .most = LADDER_BUCKETS,
        .grain = 8,
        .fill = 0xff,
        .size = { sizeof(double), sizeof(double), sizeof(double), sizeof(double), sizeof(double), sizeof(double),
                  sizeof(float), sizeof(float) },
};

void ladder_init(struct ladder *l)
{
        *l = (struct ladder){ .minutes = 0 };
}

void ladder_done(struct ladder *l)
{
        rings_done(&l->rings);
        ladder_init(l);
}

unsigned ladder_kept(const struct ladder *l, unsigned level)
{
        uint64_t count = ladder_count(l, level);

        return count < LADDER_BUCKETS ? (unsigned)count : LADDER_BUCKETS;
}

static unsigned place_of(const struct ladder *l, unsigned level, unsigned age)
{
        assert(age < ladder_kept(l, level));
        return (unsigned)((ladder_count(l, level) - 1 - age) % LADDER_BUCKETS);
}

uint64_t ladder_finest_width(const struct ladder *l, uint64_t minute)
{
        unsigned level = 0;

        while (level + 1 < LADDER_LEVELS &&
               minute < (ladder_count(l, level) - ladder_kept(l, level)) * ladder_width(level))
                level++;
        return ladder_width(level);
}

double ladder_floor(const struct ladder *l, unsigned level, unsigned age)
{
        const double *floor = rings_at(&ladder_shape, &l->rings, level, place_of(l, level, age));

        return floor ? *floor : (double)NAN;
}

/* n places of a level from one on. */
static void copy_values(const struct ladder *l, unsigned level, unsigned from, unsigned n, double *ret)
{
        unsigned room = rings_room(&ladder_shape, &l->rings, level), left = from < room ? room - from : 0;
        unsigned there = n < left ? n : left;

        if (there)
                memcpy(ret, rings_at(&ladder_shape, &l->rings, level, from), there * sizeof(*ret));
        for (unsigned i = there; i < n; i++)
                ret[i] = NAN;
}

void ladder_newest(const struct ladder *l, unsigned level, unsigned n, double *ret)
{
        if (n == 0)
                return;
        unsigned first = place_of(l, level, n - 1), to_end = LADDER_BUCKETS - first;
        unsigned head = n < to_end ? n : to_end;
        copy_values(l, level, first, head, ret);
        copy_values(l, level, 0, n - head, ret + head);
}

double ladder_high(const struct ladder *l, unsigned level, unsigned age)
{
        assert(level < LADDER_PLAIN_LEVELS + LADDER_HIGH_LEVELS);
        if (level < LADDER_PLAIN_LEVELS)
                return ladder_floor(l, level, age);
        unsigned ring = FIRST_HIGHS + level - LADDER_PLAIN_LEVELS;
        const float *high = rings_at(&ladder_shape, &l->rings, ring, place_of(l, level, age));
        return high ? (double)*high : (double)NAN;
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

/* An empty bucket needs no memory. */
static void *room_for(struct ladder *l, unsigned ring, unsigned at, double value)
{
        return isnan(value) ? rings_at(&ladder_shape, &l->rings, ring, at)
                            : rings_reach(&ladder_shape, &l->rings, ring, at);
}

static void put_floor(struct ladder *l, unsigned level, double value)
{
        double *floor = room_for(l, level, place_of(l, level, 0), value);

        if (floor)
                *floor = value;
}

static void put_high(struct ladder *l, unsigned level, double value)
{
        float *high = room_for(l, FIRST_HIGHS + level - LADDER_PLAIN_LEVELS, place_of(l, level, 0), value);

        if (high)
                *high = (float)value;
}

unsigned ladder_push(struct ladder *l, double floor)
{
        unsigned gained = 1;

        l->minutes++;
        put_floor(l, 0, floor);
        while (gained < LADDER_LEVELS && l->minutes % ladder_width(gained) == 0) {
                put_floor(l, gained, floor_of_children(l, gained - 1));
                if (gained >= LADDER_PLAIN_LEVELS && gained < LADDER_PLAIN_LEVELS + LADDER_HIGH_LEVELS)
                        put_high(l, gained, high_of_children(l, gained - 1));
                gained++;
        }
        return gained;
}

static bool is_empty(const struct ladder *l, unsigned level)
{
        unsigned kept = ladder_kept(l, level), room = rings_room(&ladder_shape, &l->rings, level), filled = 0;
        const double *floors = rings_at(&ladder_shape, &l->rings, level, 0);

        for (unsigned i = 0; i < kept && i < room; i++) /* places 0 .. kept - 1, in whatever order */
                filled += !isnan(floors[i]);
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
