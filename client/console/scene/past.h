/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.h - the whole run of every series and band at falling resolution, beside
 * the newest points that the view keeps: so that a chart of a long log shows
 * all of it, and one opened late shows what the daemon remembers.
 *
 * A history is a row of slots from event time 0 on; when the run outgrows them
 * their width doubles and neighbours are joined, the greatest value being kept.
 * Memory: PAST_SLOTS doubles a series, PAST_BAND_SLOTS a band.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_PAST_H
#define HW_CLIENT_CONSOLE_SCENE_PAST_H

#include "client/state/world.h"

enum { PAST_SLOTS = 1024, PAST_BAND_SLOTS = 256 };

struct past;

struct past *past_new(void);
void past_destroy(struct past **p);

/* Takes in what an update says. A newer run forgets the one before. -ENOMEM: something is missing from charts. */
int past_watch(struct past *p, size_t daemon, const Hw__Update *update);
void past_forget(struct past *p, size_t daemon);

/* One point of a series (band 0) or of a band, from the daemon's own history. */
int past_add(struct past *p, size_t daemon, const char *target, uint32_t run, Hw__Series series, uint32_t band,
             uint64_t time_ns, double value);

/*
 * A ring of what is known before the oldest point of `newest`, then `newest`:
 * owned by the past, valid until the next call for the same series or band.
 * Returns `newest` itself when nothing is to be added, or out of memory.
 */
const struct ring *past_ring(struct past *p, const struct world_target *t, Hw__Series series, uint32_t band,
                             const struct ring *newest);

/* Event time of the first point of any series; UINT64_MAX when there is none. */
uint64_t past_first_ns(const struct past *p, const struct world_target *t);

#endif
