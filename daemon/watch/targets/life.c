/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/life.h"

#include "proto/base/process.h"

#include <signal.h>

/* The effects as life.def writes them. */
enum {
#define LIFE_EFFECT(name, meaning) name = DO_##name,
#include "daemon/watch/targets/life.def"
};

static const struct life_step steps[LIFE_STATES][LIFE_EVENTS] = {
#define LIFE_STEP(state, event, next, effects) [LIFE_##state][ON_##event] = { true, LIFE_##next, effects },
#include "daemon/watch/targets/life.def"
};

static const char *const state_names[] = {
#define LIFE_STATE(name, shown, meaning) [LIFE_##name] = #name,
#include "daemon/watch/targets/life.def"
};

static const Hw__Target__State shown_as[] = {
#define LIFE_STATE(name, shown, meaning) [LIFE_##name] = HW__TARGET__STATE__STATE_##shown,
#include "daemon/watch/targets/life.def"
};

struct life_step life_step(enum life_state state, enum life_event event)
{
        const struct life_step *s = &steps[state][event];

        return s->listed ? *s : (struct life_step){ .listed = false, .next = state };
}

const char *life_state_name(enum life_state state)
{
        return state_names[state];
}

Hw__Target__State life_shown(enum life_state state)
{
        return shown_as[state];
}

bool life_signal_stops(uint32_t signal)
{
        return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/*
 * A program that executed another one ended so, whatever that one's status is. Of others what the parent has seen
 * decides; without a parent the end marker, then the process. Of one that is watched, a log without an end marker is
 * that of a crash, unless something else may have cut it: the program lives, the disk is full, a connection broke. A
 * finished one may be of any end: SIGTERM, SIGHUP and exitImmediately leave the log as a crash does. A program may end
 * its log (endEventLogging) and go on.
 */
enum life_event life_judge_end(const struct life_evidence *e)
{
        if (e->executed)
                return ON_END_WELL;
        if (e->exit_known) {
                if (e->signal)
                        return life_signal_stops(e->signal) && !e->oom_killed ? ON_END_WELL : ON_END_CRASHED;
                if (e->status == EXIT_HEAP_EXHAUSTED)
                        return ON_END_CRASHED;
                return e->status ? ON_END_FAILED : ON_END_WELL;
        }
        if (e->marked && e->ended_early && e->process_alive)
                return ON_END_UNKNOWN;
        if (e->marked || (e->alone && !e->oom_killed)) /* only the parent of a process is told how it ended */
                return ON_END_WELL;
        if (e->finished || e->process_alive || (e->disk_full && !e->oom_killed) || (e->may_break && !e->process_seen))
                return ON_END_UNKNOWN;
        return ON_END_CRASHED;
}
