/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - heapwatch is two programs of the same objects. `heapwatch`, the front, is linked without the libraries of
 * networks, pictures and terminals, which cost ten times its own start; `heapwatch-live` has them all. The
 * front runs what reads finished logs; everything else continues, with the same arguments, in heapwatch-live.
 */
#pragma once

#include <stdbool.h>

#define LIVE_PROGRAM "heapwatch-live" /* beside the front */

/* True in `heapwatch`, false in `heapwatch-live` and in tests. */
bool front_is_this(void);

/* Copies the arguments for front_continue, which needs them as they were given. */
void front_set_arguments(int argc, char **argv);

/*
 * Executes heapwatch-live in place of this process; what standard output holds unwritten is dropped, for it is written
 * again there. Exit status 2 with a message where that program is missing. Each function of a library that the front
 * lacks is made to be this one (scripts/front-stubs), so call it before anything is printed or started.
 */
void front_continue(void) __attribute__((noreturn));
