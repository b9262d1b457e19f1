/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.h - asks the daemon for what was before this console came, series and bands, and puts the answers into the
 * world's history. The picture never waits for it: answers are collected when they have come.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_RECALL_H
#define HW_CLIENT_CONSOLE_SCENE_RECALL_H

#include "client/state/world.h"
#include "heapwatch/requester.h"

struct recall;

/* Takes the requester, whose daemons are numbered as those of the targets. NULL: out of memory, or none was given. */
struct recall *recall_new(struct hw_requester *requester);
void recall_destroy(struct recall **r);

/*
 * Asks for a series, or with SERIES_NONE for a band or the total of all bands
 * (0) of a target, unless that was asked for lately, or too much is under way.
 */
void recall_ask(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band);

/* The targets of a daemon are forgotten: what was asked of them will be asked again. */
void recall_forget(struct recall *r, size_t daemon);

/* Readable when recall_pump has something to do. */
int recall_fd(const struct recall *r);

/* Lets requests and answers move, without waiting. Returns whether there are answers to collect. */
bool recall_pump(struct recall *r);

/* Waits until every question is answered, or the time is up. For reports, which have no next picture. */
void recall_wait(struct recall *r, int timeout_ms);

/* Puts the answers that have come into the world. Returns whether there were any. */
bool recall_collect(struct recall *r, struct world *world);

#endif
