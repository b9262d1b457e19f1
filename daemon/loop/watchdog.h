/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watchdog.h - how long the loop is away: each turn of it is measured, by what it did.
 *
 * The daemon has one thread, so what one callback takes, all sources and clients wait. A callback says what it begins
 * to do and when it is done; what it calls may say something narrower, whose time is then not the callback's own:
 *
 *      watchdog_begin(WATCHDOG_SOURCE);
 *              watchdog_begin(WATCHDOG_RULES) ... watchdog_end();
 *      watchdog_end();
 *
 * A turn is one outermost pair. Its time is measured by the clock and by the processor: a turn that took long by the
 * clock alone has waited, or the machine gave its processor to others. A turn above WATCHDOG_LONG_NS is logged with
 * what it did. What no pair encloses is found by watchdog_round, once a round of the loop.
 *
 * One loop a process; called by its thread only.
 */
#ifndef HW_DAEMON_LOOP_WATCHDOG_H
#define HW_DAEMON_LOOP_WATCHDOG_H

#include <stdint.h>

#define WATCHDOG_LONG_NS      100000000u            /* 100 ms: a turn that is logged */
#define WATCHDOG_RECENT_NS    UINT64_C(60000000000) /* the newest longest turn is of the last one to two of these */
#define WATCHDOG_TARGET_BYTES 65                    /* of a target's name, NUL included */

/* In the order of the wire's LoopTurn.Kind, from 1. */
enum watchdog_kind {
        WATCHDOG_SOURCE = 1,   /* reading, decoding, the model */
        WATCHDOG_RULES,        /* judging */
        WATCHDOG_PUBLISH,      /* making and sending updates */
        WATCHDOG_REQUEST,      /* a client's requests */
        WATCHDOG_RELOAD,       /* rules read again */
        WATCHDOG_REMOVAL,      /* a target goes */
        WATCHDOG_HOUSEKEEPING, /* the heartbeat, timers, files; whatever says nothing */
        WATCHDOG_KINDS
};

/* "source", "rules" ... Static. */
const char *watchdog_kind_name(enum watchdog_kind kind);

void watchdog_begin(enum watchdog_kind kind);
void watchdog_end(void);

/* Of which target this turn is; the first one says it. Copied. */
void watchdog_of(const char *target);

/* No turn is logged: of finished logs, whose reader is waited for and where nobody else waits for the loop. */
void watchdog_quiet(void);

/* A round of the loop is over. */
void watchdog_round(void);

struct watchdog_turn {
        enum watchdog_kind kind; /* what took most of it; 0: there was none */
        uint64_t wall_ns, cpu_ns;
        uint64_t part_ns[WATCHDOG_KINDS];   /* of wall_ns */
        uint64_t ended_wall_ns;             /* Unix time */
        char target[WATCHDOG_TARGET_BYTES]; /* "": of none */
};

/* Since the start, by processor time. */
const struct watchdog_turn *watchdog_longest(void);

/* Of the last minute or two. */
const struct watchdog_turn *watchdog_recent(void);

struct watchdog_share {
        uint64_t times, time_ns, longest_ns; /* by the clock, without what was begun inside */
};

const struct watchdog_share *watchdog_share(enum watchdog_kind kind);

#endif
