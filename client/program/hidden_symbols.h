/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hidden_symbols.h - for the agent, where the runtime's functions and variables are in a stripped program: found by
 * heapwatch-inspect, by signatures of the libraries that it was linked from.
 */
#ifndef HW_CLIENT_PROGRAM_HIDDEN_SYMBOLS_H
#define HW_CLIENT_PROGRAM_HIDDEN_SYMBOLS_H

#include "client/program/agent_fit.h"

/*
 * Of a program whose obstacle is OBSTACLE_STRIPPED: "symbols=...", a setting of the agent; malloc'd. Then it has no
 * obstacle any more. NULL: they are not all found. Needs up to some seconds for a file of 100 MB.
 */
char *hidden_symbols_find(const char *path, struct agent_fit *fit);

#endif
