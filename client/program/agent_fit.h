/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_fit.h - whether the agent (docs/AGENT.md) can watch a program, from its
 * file alone; and where the agent is. Nothing is executed.
 */
#ifndef HW_CLIENT_PROGRAM_AGENT_FIT_H
#define HW_CLIENT_PROGRAM_AGENT_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "client/program/obstacle.h"
#include "proto/base/error.h"

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
        bool loader;         /* it is started by the dynamic linker, which knows LD_PRELOAD */
        bool fits;           /* the agent can do its work: no obstacle */
        enum obstacle obstacle;
};

/* Inspects the program's file. False when it cannot be read. `error` gets the reason of its obstacle, if it has one. */
bool agent_fit_check(const char *path, struct agent_fit *ret, struct error *error);

#define AGENT_LIBRARY "libheapwatch-agent" /* in the name of its file */

/* Where libheapwatch-agent.so is: beside this program, or in lib beside its bin. False with a sentence: not there. */
bool agent_fit_library(char *ret, size_t size, struct error *error);

#endif
