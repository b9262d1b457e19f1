/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format.h - what `heapwatch convert` can write: a format gets the updates of
 * one run, in order, and writes to a stream. Earlier facts (names of bands,
 * stacks, the run itself) are in the world, so most formats keep little. To add
 * a format, add a line to the table in convert.c.
 */
#pragma once

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

/* What the state of every format begins with. */
struct conversion {
        FILE *out; /* borrowed, as the options */
        const struct format_options *options;
        const struct world *world;    /* the run as it is known so far, with the newest update applied */
        const struct world_target *t; /* in it; NULL: no update of the run came */
        const Hw__Census *census;     /* of a format for one moment: by moment_add(); kept by reference */
        bool has_start;               /* the log, up to here or, for a format that is `dated`, anywhere, says ... */
        uint64_t start_wall_ns;       /* ... when the run began */
};

struct format {
        const char *name; /* of --to */
        bool events;      /* single events are wanted, too: updates of KIND_EVENT */
        bool dated;       /* its lines have times of day: the run's start is looked for first */
        enum { NO_PROFILE, ONE_PROFILE, ANY_PROFILES } profiles; /* of one moment (--at, --profile), or also AT_ALL */
        const struct update_wish *wish;                          /* what is read; NULL: everything */

        size_t size; /* of the state of one conversion: all bytes 0 but for its struct conversion */
        /* Prepares the state. 0 or -errno. NULL: nothing is to be done. */
        int (*begin)(void *state);
        /* Takes an update of the run. 0 or -errno. */
        int (*update)(void *state, const Hw__Update *update);
        /*
         * The run is over: writes the rest. 0, -errno, or -ENODATA when the log has nothing to convert. Not
         * called when no update came.
         */
        int (*finish)(void *state);
        const char *no_data; /* a sentence for -ENODATA: what is missing, and how to get it */
        /* Frees what the state owns, also after `begin` has failed. NULL: nothing. */
        void (*done)(void *state);
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

/* Keeps a census if it is a better choice for options->at_ns. Ignores unfinished ones. */
void moment_add(struct conversion *c, const Hw__Census *census);

/* Which profile to write from a log that may have both, one or none: that of the heap if a moment was given. */
enum profile_of profile_choose(const struct conversion *c);

/* The definition of a band in a census. NULL: none yet. */
const Hw__Band *band_of(const struct world_target *t, uint32_t id);
