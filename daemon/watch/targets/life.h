/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.h - the life of a target's run: which states there are, what leads from one to another, and what is to be done
 * then. All of it is the table of life.def; this is pure, without clock or descriptors.
 *
 * The pipeline passes in events (pipeline_happens) and does the effects in the order of their bits. An effect that a
 * turn has no time for leaves the state as it was, and the event comes again in the next turn.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/wire.h"

enum life_state {
#define LIFE_STATE(name, shown, meaning) LIFE_##name,
#include "daemon/watch/targets/life.def"
        LIFE_STATES
};

enum life_event {
#define LIFE_EVENT(name, meaning) ON_##name,
#include "daemon/watch/targets/life.def"
        LIFE_EVENTS
};

enum life_effect_bit {
#define LIFE_EFFECT(name, meaning) DO_##name##_BIT,
#include "daemon/watch/targets/life.def"
        LIFE_EFFECTS
};

enum life_effect {
#define LIFE_EFFECT(name, meaning) DO_##name = 1u << DO_##name##_BIT,
#include "daemon/watch/targets/life.def"
};

struct life_step {
        bool listed; /* false: the event changes nothing in that state */
        enum life_state next;
        unsigned effects; /* of enum life_effect */
};

struct life_step life_step(enum life_state state, enum life_event event);

/* "RUNNING" for LIFE_RUNNING. */
const char *life_state_name(enum life_state state);

/* As subscribers see it. */
Hw__Target__State life_shown(enum life_state state);

/* A run is being read. */
static inline bool life_in_run(enum life_state state)
{
        return state >= LIFE_RUNNING && state <= LIFE_ENDING;
}

/* A run was read, and is not now: it ended, or its stream broke off. */
static inline bool life_is_over(enum life_state state)
{
        return state >= LIFE_LOST && state <= LIFE_CRASHED;
}

/* Its stream broke off, and how the program ended, if it has, is not known. */
static inline bool life_is_lost(enum life_state state)
{
        return state == LIFE_LOST || state == LIFE_ABANDONED;
}

/* What is known about the end of a program. */
struct life_evidence {
        bool marked;             /* its log has an end marker */
        bool ended_early;        /* ... which the program asked for: its runtime had not begun to end */
        bool exit_known;         /* by its parent */
        uint32_t signal, status; /* then */
        bool process_seen;       /* its process was seen on this machine */
        bool process_alive;
        bool executed;   /* its process runs another program now */
        bool oom_killed; /* the kernel killed a process of its control group for memory */
        bool disk_full;  /* of its log */
        bool may_break;  /* its stream may end before the program does */
        bool finished;   /* nobody watches: of the program there is only its log */
        bool alone;      /* it has no log of its own, only its process */
};

/* A signal that asks a program to stop: of Ctrl-C, of kill(1) and service managers, of a terminal that is closed. */
bool life_signal_stops(uint32_t signal);

/* ON_END_WELL, ON_END_FAILED, ON_END_CRASHED or ON_END_UNKNOWN. */
enum life_event life_judge_end(const struct life_evidence *e);
