/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * obstacle.h - why a program cannot be watched from inside, and what to do: one list, for run, attach, ps and doctor,
 * so that all of them say the same. Its process alone can be watched whatever the obstacle is. Pure.
 */
#ifndef HW_CLIENT_PROGRAM_OBSTACLE_H
#define HW_CLIENT_PROGRAM_OBSTACLE_H

#include <stdbool.h>
#include <stddef.h>

struct agent_fit;

enum obstacle {
        OBSTACLE_NONE,
        OBSTACLE_NOT_GHC, /* of its file: */
        OBSTACLE_STRIPPED,
        OBSTACLE_SHARED_RUNTIME,
        OBSTACLE_NO_EVENTLOG,
        OBSTACLE_OTHER_LIBC,
        OBSTACLE_TRACED, /* of its process, for attach: */
        OBSTACLE_STOPPED,
        OBSTACLE_OTHER_MACHINE,
        OBSTACLE_ENVIRONMENT, /* of a program that was started below another one, for run: */
        OBSTACLE_SKIPPED,
        OBSTACLE_COUNT
};

/* Of a file that was inspected. */
enum obstacle obstacle_of(const struct agent_fit *fit);

/* Whether the agent can be loaded into a running program on this machine; false: `attach` reads it from outside. */
bool obstacle_can_inject(void);

/* A clause about "it", such as "it is stripped ...". Static; "" for OBSTACLE_NONE. */
const char *obstacle_reason(enum obstacle obstacle);

/* What to do, in the imperative. Static; "" where nothing helps. */
const char *obstacle_remedy(enum obstacle obstacle);

/* Both, as one sentence for the screen of a target. "" for OBSTACLE_NONE. */
void obstacle_sentence(enum obstacle obstacle, char *ret, size_t size);

#endif
