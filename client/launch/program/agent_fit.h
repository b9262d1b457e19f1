/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_fit.h - whether the agent (docs/AGENT.md) can watch a program, from its
 * file alone; and where the agent is. Nothing is executed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/error.h"

/*
 * obstacle.c: why a program cannot be watched from inside, and what to do: one list, for run, attach, ps and doctor,
 * so that all of them say the same. Its process alone can be watched whatever the obstacle is. Pure.
 */

struct agent_fit;

enum obstacle {
        OBSTACLE_NONE,
        OBSTACLE_NOT_GHC, /* of its file: */
        OBSTACLE_STRIPPED,
        OBSTACLE_SHARED_RUNTIME,
        OBSTACLE_LOADED_RUNTIME,
        OBSTACLE_NO_EVENTLOG,
        OBSTACLE_OTHER_LIBC,
        OBSTACLE_PRIVILEGED,
        OBSTACLE_TRACED, /* of its process, for attach: */
        OBSTACLE_STOPPED,
        OBSTACLE_OTHER_MACHINE,
        OBSTACLE_ENVIRONMENT, /* of a program that was started below another one, for run: */
        OBSTACLE_SKIPPED,
        OBSTACLE_UNREACHABLE, /* of a sandbox, for both */
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

/*
 * Both in one line, for the screen of a target, with a better reason if there is one (else NULL). "" for OBSTACLE_NONE
 * without. Where there is room each has a line of its own: the second begins with OBSTACLE_REMEDY.
 */
#define OBSTACLE_REMEDY "; to see all of it, "
void obstacle_sentence(enum obstacle obstacle, const char *reason, char *ret, size_t size);

struct agent_fit {
        bool ghc;         /* the file has GHC's runtime in it, or traces of it; false: only `loader` is known */
        char version[32]; /* of GHC; "": unknown */
        char way[16];     /* of a stripped one's runtime, "thr_l" or "v" for none; "": unknown */
        bool threaded;
        bool eventlog;       /* the runtime can write one */
        bool stripped;       /* the runtime's variables are not named in it */
        bool shared_runtime; /* because the runtime is in a shared library */
        bool tables;         /* it has info tables with source locations (-finfo-table-map, GHC 9.4 and later) */
        bool agent;          /* the agent is linked into it */
        bool privileged;     /* it gets rights that we do not have: the loader then ignores LD_PRELOAD */
        bool loader;         /* it is started by the dynamic linker, which knows LD_PRELOAD */
        bool fits;           /* the agent can do its work: no obstacle */
        enum obstacle obstacle;
};

/* Inspects the program's file. False when it cannot be read. `error` gets the reason of its obstacle, if it has one. */
bool agent_fit_check(const char *path, struct agent_fit *ret, struct error *error);

/*
 * Of a running process whose file is none of GHC's: it may have loaded the runtime as a library, as a C or Python
 * program does that calls Haskell. The agent cannot work in it. False: it has not, and *ret stays.
 */
bool agent_fit_check_loaded(pid_t pid, struct agent_fit *ret);

#define AGENT_LIBRARY "libheapwatch-agent" /* in the name of its file */

/* Where libheapwatch-agent.so is: beside this program, or in lib beside its bin. False with a sentence: not there. */
bool agent_fit_library(char *ret, size_t size, struct error *error);
