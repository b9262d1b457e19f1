/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.h - asks the daemon for what was before this console came: its own
 * histories of series and bands. A thread asks, for the daemon may be slow or
 * gone, and the picture must not wait; answers are collected by the owner.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_RECALL_H
#define HW_CLIENT_CONSOLE_SCENE_RECALL_H

#include "client/console/scene/past.h"

struct recall;

/* NULL when it cannot be made: then nothing is recalled. */
struct recall *recall_new(void);
void recall_destroy(struct recall **r);

/*
 * Asks for a series (band 0) or a band of a target, unless that was asked for
 * lately, or too much is under way.
 */
void recall_ask(struct recall *r, const char *endpoint, const struct world_target *t, Hw__Series series, uint32_t band);

/* Waits until every question is answered, or the time is up. For reports, which have no next picture. */
void recall_wait(struct recall *r, int timeout_ms);

/* Takes the answers that have come into the past. Returns whether there were any. */
bool recall_collect(struct recall *r, struct past *p);

#endif
