/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series_past.h - the whole run of every series at falling resolution, beside
 * the newest points that the world keeps: so that a chart of a long log shows
 * all of it, and one opened late shows what the daemon remembers.
 *
 * A history is a row of slots from event time 0 on; when the run outgrows them
 * their width doubles and neighbours are joined, the greatest value being kept.
 * Memory: PAST_SLOTS doubles a series. For bands see band_past.h.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_SERIES_PAST_H
#define HW_CLIENT_CONSOLE_SCENE_SERIES_PAST_H

#include "client/state/world.h"

enum { PAST_SLOTS = 1024 };

struct series_past;

struct series_past *series_past_new(void);
void series_past_destroy(struct series_past **p);

/* Takes in what an update says. A newer run forgets the one before. -ENOMEM: something is missing from charts. */
int series_past_watch(struct series_past *p, size_t daemon, const Hw__Update *update);
void series_past_forget(struct series_past *p, size_t daemon);

/* One point from the daemon's own history. */
int series_past_add(struct series_past *p, size_t daemon, const char *target, uint32_t run, Hw__Series series,
                    uint64_t time_ns, double value);

/*
 * A ring of what is known before the oldest point of `newest`, then `newest`:
 * owned by the past, valid until the next call for the same series.
 * Returns `newest` itself when nothing is to be added, or out of memory.
 */
const struct ring *series_past_ring(struct series_past *p, const struct world_target *t, Hw__Series series,
                                    const struct ring *newest);

/* Event time of the first point of any series; UINT64_MAX when there is none. */
uint64_t series_past_first_ns(const struct series_past *p, const struct world_target *t);

#endif
