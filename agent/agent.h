/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.h - what libheapwatch-agent exports: a function for `heapwatch attach`,
 * one for the program, and a name. Everything else is done by loading or linking it.
 */
#pragma once

#include <stddef.h>

#define AGENT_EXPORT __attribute__((visibility("default")))

#define AGENT_REFUSED 0 /* `answer` is why; nothing was changed */
#define AGENT_BEGUN   1 /* `answer` is the socket's path */
#define AGENT_THERE   2 /* it was there already; the same */
#define AGENT_NOT_YET 3 /* as AGENT_REFUSED, but soon it may be possible: the runtime is not up */

/* `settings` as in HEAPWATCH_AGENT. Any thread with 32 KiB of stack may call it, one at a time. */
AGENT_EXPORT int heapwatch_agent_attach(const char *settings, char *answer, size_t answer_size);

/*
 * A census with the program's next step, as by the request `census` (docs/AGENT.md); nothing while no log or heap
 * profile runs. Any thread; returns at once.
 */
AGENT_EXPORT void heapwatch_agent_census(void);

/* 1 while a census that was read from outside may be given (given.c), else 0: who reads the program sees it. */
AGENT_EXPORT extern _Atomic unsigned heapwatch_agent_accepts_censuses;
