/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the time that was unknown is not subtracted; instead the two "since" times are moved forward by it, so that
 * the time held is always now - held_ns.
 */
#include "daemon/judge/rules/alerts.h"

#include <math.h>

#include "proto/base/ckd.h"

const char *alert_state_name(enum alert_state state)
{
        static const char *const names[] = { "inactive", "pending", "firing", "resolved" };

        return names[state];
}

void state_init(struct state *s)
{
        *s = (struct state){
                .over_ns = UNKNOWN_U64,
                .active_ns = UNKNOWN_U64,
                .fired_ns = UNKNOWN_U64,
                .resolved_ns = UNKNOWN_U64,
        };
}

static void fire(struct state *s, uint64_t now_ns)
{
        s->now = ALERT_FIRING;
        s->fired_ns = now_ns;
        s->over_ns = UNKNOWN_U64;
}

static bool begin(struct state *s, const struct state_times *times, uint64_t now_ns)
{
        s->now = ALERT_PENDING;
        s->active_ns = s->held_ns = now_ns;
        s->fired_ns = s->resolved_ns = UNKNOWN_U64;
        if (times->for_ns == 0)
                fire(s, now_ns);
        return true;
}

static bool step_pending(struct state *s, const struct state_times *times, double holds, uint64_t now_ns)
{
        if (holds == 0) {
                s->now = ALERT_INACTIVE;
                return true;
        }
        if (sub_sat(now_ns, s->held_ns) < times->for_ns)
                return false;
        fire(s, now_ns);
        return true;
}

static bool step_firing(struct state *s, const struct state_times *times, double over, uint64_t now_ns)
{
        if (over == 0) {
                s->over_ns = UNKNOWN_U64;
                return false;
        }
        if (s->over_ns == UNKNOWN_U64)
                s->over_ns = now_ns;
        if (now_ns - s->over_ns < times->keep_firing_ns)
                return false;
        s->now = ALERT_RESOLVED;
        s->resolved_ns = now_ns;
        return true;
}

static void skip_unknown_time(struct state *s, uint64_t now_ns)
{
        uint64_t gap = now_ns - s->judged_ns;

        s->held_ns += gap;
        if (s->over_ns != UNKNOWN_U64)
                s->over_ns += gap;
}

bool state_step(struct state *s, const struct state_times *times, double holds, double over, uint64_t now_ns)
{
        double answer = s->now == ALERT_FIRING ? over : holds;

        if (now_ns < s->judged_ns)
                return false;
        if (s->unknown || isnan(answer))
                skip_unknown_time(s, now_ns);
        s->judged_ns = now_ns;
        s->unknown = isnan(answer);
        if (s->unknown)
                return false;
        switch (s->now) {
        case ALERT_INACTIVE:
        case ALERT_RESOLVED:
                return holds == 1 ? begin(s, times, now_ns) : false;
        case ALERT_PENDING:
                return step_pending(s, times, holds, now_ns);
        case ALERT_FIRING:
                return step_firing(s, times, over, now_ns);
        }
        return false;
}

bool state_end(struct state *s, uint64_t now_ns)
{
        s->unknown = false;
        if (s->now == ALERT_PENDING) {
                s->now = ALERT_INACTIVE;
                return true;
        }
        if (s->now != ALERT_FIRING)
                return false;
        s->now = ALERT_RESOLVED;
        s->resolved_ns = now_ns > s->judged_ns ? now_ns : s->judged_ns;
        return true;
}
