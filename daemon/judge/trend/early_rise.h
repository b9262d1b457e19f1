/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_rise.h - is one series rising now, since when, and how fast? Within seconds, while the verdict (trend.h) needs
 * many minutes.
 *
 *      sample ─▶ second ─▶ rungs of 1, 4, 16, 64, 256 s ─▶ windows (early_fit.h) ─▶ rising
 *
 * A rise is provisional: it ends by itself when the series stops rising or falls back. Pure; times are seconds of event
 * time in rising order, values bytes. Memory is fixed (about 6 kB). docs/VERDICT.md has the method and its scores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Does a window of few points rise, and not by a step or by what was held before?
 *
 * The line is Sen's (median slope of all pairs), its standard error is widened for correlated residuals. A window
 * passes when the slope is far above its error, the rise is large enough to matter and to ground that the run has not
 * held before, keeps its pace to the window's end, and is not one jump. A rise that speeds up is fitted by a parabola.
 * docs/VERDICT.md has the formulas and their reasons. Pure. Times are seconds, values bytes.
 */

#define EARLY_POINTS_MIN 4u
#define EARLY_POINTS_MAX 24u

struct early_point {
        double t_s, value;
        double top; /* highest sample of the run up to the end of this point's bucket */
};

struct early_fit {
        unsigned n;
        double start_s, end_s;                   /* of the first and last point */
        double slope, se;                        /* bytes per second; standard error of the slope */
        double slope_old, slope_new, slope_last; /* of the older half, the newer half, the last third */
        double sd;                               /* scatter around the line, bytes; never 0 */
        double end, rise;                        /* the line at end_s; its rise over the window */
        bool passes;                             /* it is a rise */
};

/*
 * Fits n points at rising times, EARLY_POINTS_MIN <= n <= EARLY_POINTS_MAX. `top_before`: the highest sample before the
 * window, -INFINITY when the run begins with it.
 */
void early_fit_window(const struct early_point *p, unsigned n, double top_before, struct early_fit *ret);

/* Slope over standard error; the factor that makes an interval of `se` for n points. */
double early_fit_ratio(const struct early_fit *f);
double early_fit_required_ratio(unsigned n);
double early_fit_interval_factor(unsigned n);

#define EARLY_RUNGS    5u
#define EARLY_CHILDREN 4u /* points of a rung that make one of the next */

/* The standing answer of a rung's newest evaluation. */
struct early_answer {
        bool passes;
        struct early_fit widest, shortest; /* of the windows that pass */
        double required_share;             /* largest ratio of slope to error, over the required ratio */
};

struct early_rung {
        struct early_point points[EARLY_POINTS_MAX]; /* oldest first */
        unsigned n;
        double top_before; /* `top` of the newest point that was dropped; -INFINITY: none was */
        uint64_t closed;   /* points so far, */
        uint64_t children; /* made of so many */

        /* In the making. */
        int64_t bucket;
        struct early_point open[EARLY_CHILDREN];
        unsigned n_open;

        struct early_answer answer;
        unsigned passed; /* evaluations running that passed */
};

/* When a rise began, as an interval of event time. */
struct early_onset {
        double from_s, to_s;
        double base; /* level before it, bytes */
        bool first;  /* nothing was seen before the rise */
};

struct early_rise {
        struct early_rung rungs[EARLY_RUNGS];
        double now_s;        /* of the newest call */
        double first_s;      /* of the first sample */
        double last_s, last; /* the newest sample */
        double top;          /* the highest sample */
        double high_s, high; /* the newest sample that was higher than those before it by a part of the rise */
        double gap_s;        /* usual time between seconds with samples */
        uint64_t samples;

        bool rising;
        double passed_s;                   /* when a window last passed */
        uint64_t passed_closed;            /* seconds with samples then */
        struct early_fit widest, shortest; /* while rising: of the newest passes */
        double ended_s;                    /* after a rise: when a window last passed */
        double end;                        /* the highest end of a window of this rise */
        double stood;                      /* after a rise: the level that it had come to */
        bool has_onset;
        struct early_onset onset; /* kept after the rise, for one that continues it */
};

void early_rise_init(struct early_rise *e);

/* Time has come to t_s: closes what ended before. Call before early_rise_add, and at least every second or so. */
void early_rise_advance(struct early_rise *e, double t_s);

/*
 * A sample. One that is up to two seconds older than what was passed before counts as of now, an older one is ignored:
 * the process is sampled by the daemon's clock and may lag the log by a moment, again and again.
 */
void early_rise_add(struct early_rise *e, double t_s, double value);

/* The series has gained `most` at most since its newest sample: a rise that would have gained far more has ended. */
void early_rise_bound(struct early_rise *e, double most);

/* Whether a state that was read from a file is within the bounds of its arrays. */
bool early_rise_is_sound(const struct early_rise *e);

/* The interval of the rate while rising, bytes per second. */
void early_rise_rate(const struct early_rise *e, double *ret_low, double *ret_high);

/*
 * rise.c: a line through the last samples of a run that is over, where no early warning (early_rise.h) stands.
 *
 * A program may die of its limit within seconds, long before a verdict can be reached. What its samples show is then
 * described, not judged: from where to where, how straight, and between which two samples it began.
 */

#define RISE_POINTS_MIN 4u  /* samples on the line */
#define RISE_FIT_MIN    0.8 /* R^2 of that line: below it is no rise */
#define RISE_BYTES_MIN  1048576.0

struct rise_point {
        uint64_t time_ns;
        double bytes;
};

struct rise_line {
        uint64_t began_after_ns, began_by_ns; /* it began between these two samples; equal: at the first one */
        uint64_t to_ns;                       /* its highest sample */
        double from_bytes, to_bytes;
        double slope; /* bytes per s, least squares */
        double fit;   /* R^2 of the line */
        unsigned points;
};

/*
 * The rise that ends at the highest of n samples in order of time. False: there is none, or it had ended long before
 * end_ns.
 */
bool rise_find(const struct rise_point *points, size_t n, uint64_t end_ns, struct rise_line *ret);
