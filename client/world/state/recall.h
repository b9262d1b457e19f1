/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.h - requests from the daemon what was before this client started, series, bands and notes, and puts the
 * answers into the world. Drawing never waits for it: answers are collected once they have come.
 */
#pragma once

#include "client/world/state/world.h"
#include "heapwatch/requester.h"

struct recall;

/*
 * Takes over the requester, whose daemons are numbered as those of the targets. NULL: out of memory, or none was
 * given.
 */
struct recall *recall_new(struct hw_requester *requester);
void recall_destroy(struct recall **r);

/*
 * Requests a series, or with SERIES_NONE a band or the total of all bands (0)
 * of a target, unless that was requested recently or too many requests are
 * pending.
 */
void recall_request(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band);

/* Requests the notes and all trends of a target, once: what world_focus() is to have beside the past. */
void recall_rest(struct recall *r, const struct world_target *t);

/* The targets of a daemon are forgotten, or one of them (else NULL): their queries will be sent again. */
void recall_forget(struct recall *r, size_t daemon, const char *target);

/* Readable when recall_pump has something to do. */
int recall_fd(const struct recall *r);

/* Sends requests and receives answers, without waiting. Returns whether there are answers to collect. */
bool recall_pump(struct recall *r);

/* Waits until every query is answered, or the time is up. For reports, which have no next frame. */
void recall_wait(struct recall *r, int timeout_ms);

/* Puts the answers that have come into the world. Returns whether there were any. */
bool recall_collect(struct recall *r, struct world *world);

/* All that daemons remember of all targets, series and bands. Waits; returns how many queries got no answer. */
size_t recall_all(struct recall *r, struct world *world);
