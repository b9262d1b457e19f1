/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rts_counters.h - what the runtime counts of its collections, found in its memory: the variable behind `+RTS -s`
 * (rts/Stats.c), which it keeps up to date at the end of each collection. Times in it are kept with -T, -s, -S, -l, a
 * heap profile or a hook alone; else they are 0, and not known.
 *
 * A stripped program does not say where it is. So what is there must agree with the generations' own counters and
 * with itself, at one place alone, and must still do so after further collections: else nothing is known.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inspect/ghc/blocks.h"

#define RTS_COUNTERS_PLACES 64u
#define RTS_COUNTER_UNKNOWN UINT64_MAX

struct rts_counters {
        uint64_t allocated_bytes, copied_bytes; /* up to the newest collection */
        uint64_t collecting_ns;                 /* of all collections; RTS_COUNTER_UNKNOWN */
        uint64_t live_sum_bytes;                /* of all major collections */
        uint64_t newest_live_bytes;             /* after the newest collection */
        bool newest_is_major;
};

struct rts_counters_search {
        uint64_t places[RTS_COUNTERS_PLACES];
        unsigned n;
        unsigned proofs; /* numbers of collections at which all of them fitted, after the first */
        unsigned searches;
        uint64_t searched;    /* number of collections at the last search */
        uint64_t collections; /* at the newest proof */
        unsigned misfits;     /* readings in turn of which none fitted */
        bool has_name, is_found;
};

/*
 * Of generations that were just read. False: not known, or not at this moment, in which a collection ends.
 */
bool rts_counters_read(struct rts_counters_search *s, const struct program *p, const struct generations *g,
                       struct rts_counters *ret);

/*
 * live_data.c: live data of a program that is read while it runs: how much the last major collection has left.
 *
 * It is known only right after one. The next minor collections add what they promote to the oldest generation, so when
 * they have come between two readings, its size says too much. But the runtime has written down itself what was left:
 * max_blocks, the size at which the oldest generation is collected next, is a multiple (-F, 2 unless it is given) of
 * it, and changes at major collections alone. Where both disagree, the live data of that collection is not known.
 */

struct live_data {
        struct generations last;
        bool begun;
        bool pending;   /* a major collection was seen; it is over when the next reading is of no other */
        bool is_clean;  /* and no other collection has followed it */
        double factor;  /* -F as found out; 0: not yet */
        uint64_t known; /* major collections whose live data was found out */
        uint64_t unknown;
};

/* A reading, read twice with the same result. True: *ret_bytes were live after the last major collection. */
bool live_data_update(struct live_data *l, const struct generations *g, uint64_t *ret_bytes);

/* What the generations hold, of closures that a collection has come to. */
uint64_t live_data_held_bytes(const struct generations *g);

/* Read twice, and nothing changed between. False: they changed, a collection is under way, or they cannot be read. */
bool live_data_read(struct generations *g, const struct program *p, bool *ret_readable);
