/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watchdog.h - how long the loop is busy: each turn is measured, by what it did.
 *
 * The daemon has one thread, so while a callback runs, all sources and clients wait. A callback marks where its work
 * begins and ends; what it calls may mark a narrower kind of work, whose time is then not counted as the callback's:
 *
 *      watchdog_begin(WATCHDOG_SOURCE);
 *              watchdog_begin(WATCHDOG_RULES) ... watchdog_end();
 *      watchdog_end();
 *
 * A turn is one outermost pair. Its time is measured by the clock and by the processor: a turn that took long by the
 * clock alone has waited, or the machine gave its processor to others. A turn above WATCHDOG_LONG_NS is logged with
 * what it did. Time outside any pair is found by watchdog_round, once per iteration of the loop.
 *
 * One loop per process; called by its thread only.
 */
#pragma once

#include <stdint.h>

#define WATCHDOG_LONG_NS      100000000u            /* 100 ms: longer turns are logged */
#define WATCHDOG_RECENT_NS    UINT64_C(60000000000) /* the recent longest turn covers the last one to two of these */
#define WATCHDOG_TARGET_BYTES 65                    /* of a target's name, NUL included */

/* In the order of the wire's LoopTurn.Kind, from 1. */
enum watchdog_kind {
        WATCHDOG_SOURCE = 1,   /* reading, decoding, the model */
        WATCHDOG_RULES,        /* judging */
        WATCHDOG_PUBLISH,      /* making and sending updates */
        WATCHDOG_REQUEST,      /* a client's requests */
        WATCHDOG_RELOAD,       /* rules reloaded */
        WATCHDOG_REMOVAL,      /* a target is removed */
        WATCHDOG_HOUSEKEEPING, /* the heartbeat, timers, files; whatever is not marked */
        WATCHDOG_KINDS
};

/* "source", "rules" ... Static. */
const char *watchdog_kind_name(enum watchdog_kind kind);

void watchdog_begin(enum watchdog_kind kind);
void watchdog_end(void);

/* Which target this turn is for; the first call in a turn counts. Copied. */
void watchdog_of(const char *target);

/* Nothing is measured from now on: for finished logs, where nobody waits for a turn. Call it between turns. */
void watchdog_disable(void);

/* An iteration of the loop is over. */
void watchdog_round(void);

struct watchdog_turn {
        enum watchdog_kind kind; /* what took most of it; 0: no turn yet */
        uint64_t wall_ns, cpu_ns;
        uint64_t part_ns[WATCHDOG_KINDS];   /* of wall_ns */
        uint64_t ended_wall_ns;             /* Unix time */
        char target[WATCHDOG_TARGET_BYTES]; /* "": none */
};

/* Since the start, by processor time. */
const struct watchdog_turn *watchdog_longest(void);

/* Of the last minute or two. */
const struct watchdog_turn *watchdog_recent(void);

struct watchdog_share {
        uint64_t times, time_ns, longest_ns; /* by the clock, without what was begun inside */
};

const struct watchdog_share *watchdog_share(enum watchdog_kind kind);
