/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format.h - what `heapwatch convert` can write: a format gets the updates of
 * one run, in order, and writes to a stream. Earlier facts (names of bands,
 * stacks, the run itself) are in the world, so most formats keep little. To add
 * a format, add a line to the table in convert.c.
 */
#ifndef HW_CLIENT_OUT_CONVERT_FORMAT_H
#define HW_CLIENT_OUT_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/world/feed/feed.h"
#include "client/world/state/world.h"
#include "heapwatch/wire.h"

#define AT_PEAK UINT64_MAX       /* the census with the most bytes */
#define AT_ALL  (UINT64_MAX - 1) /* every census, each as a profile of its own */

enum profile_of { OF_ANY, OF_TIME, OF_HEAP };

struct format_options {
        bool names;       /* names of info tables instead of their addresses */
        uint64_t at_ns;   /* event time of the census, AT_PEAK or AT_ALL */
        bool at_given;    /* the user chose it */
        int of;           /* enum profile_of */
        uint32_t n_bands; /* most columns of bands; 0: all */
        uint64_t step_ns; /* between samples */
};

/* The run as it is known so far, with the newest update applied. */
struct format_run {
        const struct world *world;
        const struct world_target *t;
};

struct format {
        const char *name; /* of --to */
        bool events;      /* single events are wanted, too: updates of KIND_EVENT */
        enum { NO_PROFILE, ONE_PROFILE, ANY_PROFILES } profiles; /* of one moment (--at, --profile), or also AT_ALL */
        const struct update_wish *wish;                          /* what is read; NULL: everything */

        /* State of one conversion, writing to `out` (borrowed, as the options). NULL when out of memory. */
        void *(*begin)(FILE *out, const struct format_options *options);
        /* Takes an update of the run. 0 or -errno. */
        int (*update)(void *state, const struct format_run *run, const Hw__Update *update);
        /*
         * The run is over: writes the rest. 0, -errno, or -ENODATA when the log has nothing to convert. Not
         * called when no update came.
         */
        int (*finish)(void *state, const struct format_run *run);
        const char *no_data; /* a sentence for -ENODATA: what is missing, and how to get it */
        void (*destroy)(void *state);
};

extern const struct format format_hp;
extern const struct format format_csv;
extern const struct format format_csv_wide;
extern const struct format format_json;
extern const struct format format_collapsed;
extern const struct format format_speedscope;
extern const struct format format_pprof;
extern const struct format format_perfetto;
extern const struct format format_openmetrics;
extern const struct format format_resid;

/*
 * moment.c: the census that a format for one moment shows: the newest at or before a time (the first one, if all are
 * later), or the one with the most bytes. And whether to write a profile of time or of the heap.
 */

struct moment {
        uint64_t at_ns;           /* or AT_PEAK */
        const Hw__Census *census; /* kept by reference; NULL: none yet */
};

/* Keeps a census if it is a better choice. Ignores unfinished ones. */
void moment_add(struct moment *m, const Hw__Census *census);
void moment_done(struct moment *m);

/* Which profile to write from a log that may have both, one or none: that of the heap if a moment was given. */
enum profile_of profile_choose(const struct format_options *o, uint64_t ticks, bool any_census);

/* The definition of a band in a census. NULL: none yet. */
const Hw__Band *band_of(const struct world_target *t, uint32_t id);

#endif
