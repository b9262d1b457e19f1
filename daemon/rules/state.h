/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - from "the condition holds" to "this alert fires": one small machine.
 *
 *               holds            for is over
 *      inactive ------> pending ------------> firing
 *          ^               | does not hold       | over for keep_firing_for
 *          `---------------'                     v
 *          `<--------------------------------- resolved
 *
 * A firing alert is over when `until` holds or, without one, when the
 * expression does not. Unknown changes nothing: the state stays, and the time
 * does not count towards `for` or keep_firing_for.
 *
 * Pure: time is an argument, on the clock that the rule is judged by.
 */
#ifndef HW_DAEMON_RULES_STATE_H
#define HW_DAEMON_RULES_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/process.h"

enum alert_state { ALERT_INACTIVE, ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

/* "inactive", "pending", "firing", "resolved". Static. */
const char *alert_state_name(enum alert_state state);

struct state_times {
        uint64_t for_ns, keep_firing_ns;
};

struct state {
        enum alert_state now;
        bool unknown;                              /* the last answer was unknown */
        uint64_t judged_ns;                        /* time of the last step */
        uint64_t held_ns;                          /* since when it has held; later by the time that was unknown */
        uint64_t over_ns;                          /* firing: since when it has been over, likewise; UNKNOWN_U64 */
        uint64_t active_ns, fired_ns, resolved_ns; /* when these states were entered; UNKNOWN_U64 */
};

void state_init(struct state *s);

/*
 * One answer: holds and over are 1, 0 or NaN for unknown; `over` is that of
 * `until`, or the negation of holds. True when the state changed. Two changes
 * in one step (for = 0: inactive to firing) count as one.
 */
bool state_step(struct state *s, const struct state_times *times, double holds, double over, uint64_t now_ns);

/* What is judged has ended: pending becomes inactive, firing resolved. True when the state changed. */
bool state_end(struct state *s, uint64_t now_ns);

#endif
