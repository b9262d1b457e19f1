/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict.h - from 24 results to one verdict that does not flicker.
 *
 * One step per closed minute. Each verdict needs its evidence for a while
 * before it is reached and stays for a while after: for a bucket of a deciding
 * level, so that a single bucket cannot decide.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/windows.h"

enum trend_verdict {                    /* in rising order of alarm; the numbers never change */
                     TREND_UNKNOWN = 0, /* too little data */
                     TREND_STEADY = 1,  /* no sustained growth to new highs */
                     TREND_GROWING = 2, /* the floor rises to new highs; may still level off */
                     TREND_LEAK = 3     /* grows for leak_after or longer and has not slowed down */
};

#define VERDICT_NEVER       UINT64_MAX
#define VERDICT_GROWING_FOR 4u /* minutes of evidence before a series is called growing */

/* All times are minutes of the run. */
struct verdict {
        enum trend_verdict now;
        uint64_t since;       /* end of the minute that brought it */
        uint64_t leaks_since; /* some window has passed as a leak at every minute since; VERDICT_NEVER: none does */
        uint64_t grows_since;
        uint64_t last_grew; /* newest minute at which some window grew */
        uint64_t last_held;
        double rise_middle; /* level at the middle of the newest rise: below it the rise has been reversed */
        double rise;        /* the largest of a window that showed the verdict, bytes */
        uint64_t rise_span; /* length of the newest such window */
        double top;         /* highest floor while something grows, as far as that is news; -INFINITY: nothing does */
        uint64_t top_at;    /* when it was reached */

        /* The floor's newest rise, and the longest that was let go again: from trough to peak. */
        double trough, peak;
        uint64_t trough_at, peak_at;
        uint64_t longest_released; /* minutes; 0: nothing was */
};

void verdict_init(struct verdict *v);

/* The results of all windows together. */
struct verdict_signs {
        bool grows, leaks, holds; /* some window passes these tests */
        bool any;                 /* some window decides (windows_deciding) */
        bool rises;               /* the run so far rises, and does so to its end (windows_still_rise) */
        double rise_middle;       /* of the widest window that grows */
        double rise;              /* of the widest that leaks, else grows: bytes */
        uint64_t rise_span;       /* and its minutes */
        uint64_t grows_span;      /* minutes of the widest that grows */
        double floor;             /* of the newest minute; NaN: it has none. Set by the caller */
};

struct verdict_signs verdict_signs(const struct windows *w);

/* Takes in the signs after minute number `minute` (from 1). True when the verdict changed. */
bool verdict_step(struct verdict *v, const struct verdict_signs *signs, const struct ladder *l, uint64_t minute);

/*
 * A sample of the minute that follows `minute`, the newest closed one: where it is so low that most of a rise has been
 * given back, `growing` is left at once, for the floor of that minute cannot be above it. True: the verdict changed.
 */
bool verdict_release(struct verdict *v, double value, uint64_t minute);

/* Half of the newest growth's rise has been given back. */
bool verdict_fell(const struct verdict *v, const struct ladder *l);

/* Minutes until the verdict is `growing` if the growth that some window shows goes on; 0: none shows any, or it is. */
uint64_t verdict_growing_in(const struct verdict *v, uint64_t minute);

/* Whether steps with these signs change nothing, however many. */
bool verdict_rests(const struct verdict *v, const struct verdict_signs *signs);

/* "unknown", "steady", "growing", "leak" */
const char *trend_verdict_name(enum trend_verdict verdict);
