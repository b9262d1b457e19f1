/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_warning.h - does a program run out of memory, and when? From its live data and from what is off the heap.
 *
 * A program with a copying collector dies when live data, not the heap, meet a bound: with -M when they leave no
 * room for the nursery, in a control group when a major collection needs nursery + r * live beside what is off the
 * heap, in a reserved address space when it needs more than that. So live data is extrapolated, never the heap. Off
 * the heap is foreign memory (resident.h) where the account of RSS is known, else RSS - highest heap so far: what the
 * runtime keeps or has freed lazily grows neither. Pure; times are seconds of event time, values bytes.
 * docs/VERDICT.md has the method and its scores.
 */
#pragma once

#include <stdbool.h>

#include "daemon/judge/trend/early_rise.h"

#define EARLY_MAJORS 6u

struct early_limits {
        double live;     /* the most live data that the heap's limit (-M) allows; NaN: no such limit */
        double process;  /* of the control group or machine; NaN: none */
        double nursery;  /* all capabilities together, bytes; 0 when unknown */
        double reserved; /* address space for the heap, of which the collector does not know; 0: not limited */
        double space;    /* the most that the address space allows off the heap; 0: not limited */
};

enum early_limit { EARLY_PROCESS, EARLY_MAX_HEAP, EARLY_RESERVED, EARLY_SPACE };

/* Whether one series runs out. */
struct early_runs_out {
        bool warned;
        uint64_t samples;           /* of the series, when it was last judged */
        unsigned high_samples;      /* running samples near the limit */
        double limit;               /* in the series' own bytes; NaN: none */
        double soonest_s, latest_s; /* from now on; NaN: not known. Valid while rising and a limit is known */
};

struct early_series {
        struct early_rise rise;
        struct early_runs_out out;
};

struct early_warning {
        struct early_limits limits;
        struct early_series live, off_heap;

        double rss;                  /* the newest; 0: none seen */
        bool has_foreign;            /* off_heap is foreign memory */
        double highest_heap;         /* 0: none seen */
        double lowest_off_heap;      /* INFINITY: none seen */
        double pending_live;         /* of a major collection whose heap is not known yet; NaN: none */
        double ratios[EARLY_MAJORS]; /* of heap to live data after the newest major collections */
        unsigned n_ratios, next_ratio;
};

void early_warning_init(struct early_warning *w, const struct early_limits *limits);

/* Limits may become known or change while a run goes. */
void early_warning_set_limits(struct early_warning *w, const struct early_limits *limits);

/* Samples of one kind in rising order of time: live data, heap, what of RSS stays (resident.h), and of
 * the same moment foreign memory. */
void early_warning_live(struct early_warning *w, double t_s, double bytes);
void early_warning_heap(struct early_warning *w, double bytes);
void early_warning_rss(struct early_warning *w, double t_s, double bytes);
void early_warning_foreign(struct early_warning *w, double t_s, double bytes);

/* Event time has come to t_s: all samples of the log before it were passed. Judges both series. */
void early_warning_advance(struct early_warning *w, double t_s);

/* Live data have gained that at most since their newest sample. */
void early_warning_bound_live(struct early_warning *w, double most);

/* Which limit one of its series meets first. */
enum early_limit early_warning_limit(const struct early_warning *w, const struct early_series *s);

/* Whether a state that was read from a file is one that these functions could have made. */
bool early_warning_is_sound(const struct early_warning *w);

/* The series that matters: the one that runs out first, else one that rises, else NULL. */
const struct early_series *early_warning_worst(const struct early_warning *w);
