/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.h - the console on the terminal. */
#ifndef HW_CLIENT_CONSOLE_LOOP_H
#define HW_CLIENT_CONSOLE_LOOP_H

#include "client/feed/feed.h"
#include "client/state/world.h"

/*
 * Runs until the user quits; returns the exit status. Begins with the view of
 * that name (which must exist) and the target of that name; either may be NULL.
 * Borrows feed and world.
 */
int console_run(struct feed *feed, struct world *world, const char *view_name, const char *target,
                uint64_t interval_ns);

#endif
