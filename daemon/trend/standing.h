/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standing.h - how a target's memory stands at one moment: every verdict, where it grows, the rise of the last seconds,
 * and when the limit is met. One record, judged once; faces read it.
 *
 * It is kept where the next samples would deny what was true: at a limit that the growth has met, where nothing can
 * rise any more, and over the last collections of a run that ends, which free all that the program held.
 */
#ifndef HW_DAEMON_TREND_STANDING_H
#define HW_DAEMON_TREND_STANDING_H

#include "daemon/trend/growth.h"
#include "daemon/trend/limit.h"

/* What is known within seconds of a rise: of live data, or off the heap. docs/VERDICT.md. */
struct tracked_early {
        enum series_id series;  /* live, foreign or, without a log, RSS: the one that runs out first, else that rises */
        bool rising;            /* provisional: it ends by itself when the rise does */
        bool runs_out;          /* the limit is near, in time or in bytes */
        double level_bytes;     /* the newest sample, */
        uint64_t level_time_ns; /* of then */
        double base_bytes;      /* before the rise; NaN unless rising, as the next three */
        double rate, rate_low, rate_high;    /* bytes per second */
        uint64_t onset_from_ns, onset_to_ns; /* event time, an interval; UNKNOWN_U64 unless rising */
        bool since_start;                    /* nothing is known from before the rise */
        struct memory_limit limit;
        bool held_back; /* it is -M, of which live data is near half, and the collector needs the rest to copy it */
        double soonest_s,
                latest_s; /* since as_of_ns, if it continues; NaN: no limit, not rising, or too far off to tell */
        double mid_s;     /* by the rate, however far off that is; NaN: no limit, or not rising */
        bool at_limit;    /* what had risen has met it, and the program does little but collect */
        uint64_t as_of_ns;
        bool ended; /* the run has ended: so it was then */
};

#define STANDING_SERIES 7u /* series that are judged */

struct standing {
        uint64_t as_of_ns;
        struct growth_series series[STANDING_SERIES]; /* by tracker_judged_place() */
        struct growth growth;
        bool has_limit, has_early;
        struct limit_time limit;
        struct tracked_early early;
        uint64_t live_bytes, heap_bytes; /* the newest then; UNKNOWN_U64 */
        uint64_t live_time_ns;
};

/* Why a standing is kept. */
enum standing_kept {
        STANDING_NONE,  /* nothing is kept: its memory is for the next one */
        STANDING_READY, /* memory runs out: the next samples may be the last */
        STANDING_MET,   /* the growth has met its limit, and the program does little but collect */
        STANDING_FELL   /* most live data was freed a moment ago: if the run ends now, by its shutdown */
};

struct kept_standing {
        enum standing_kept why;
        bool met;         /* it had met its limit before it fell */
        uint64_t fell_ns; /* event time of the collection that freed most of it */
        double fell_from; /* live data before it */
        struct standing of;
};

#endif
