/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_past.h - what bands held before: the censuses that this console has
 * seen, and before them what the daemon remembers. The same numbers whatever
 * the width of the terminal and however long the console has been open.
 */
#ifndef HW_CLIENT_CONSOLE_SCENE_BAND_PAST_H
#define HW_CLIENT_CONSOLE_SCENE_BAND_PAST_H

#include "client/console/scene/recall.h"
#include "client/history/history.h"

struct band_past;

/* NULL when out of memory. */
struct band_past *band_past_new(void);
void band_past_destroy(struct band_past **p);

/* Takes in what an update says. -ENOMEM: censuses are missing. */
int band_past_watch(struct band_past *p, size_t daemon, const Hw__Update *update);
void band_past_forget(struct band_past *p, size_t daemon);

/*
 * What a band held at censuses, in rising time: of the daemon's answers in `recall` (NULL: none) up to the first census
 * seen here, then of those. Valid until the next call.
 */
const struct ring *band_past_ring(struct band_past *p, const struct recall *recall, const struct world_target *t,
                                  uint32_t band);

/*
 * What the band holds now less what it held a window before the newest census (0: at the first that is known): at the
 * newest census known of before that. The daemon's answer has precedence where its points are not wider than a quarter
 * of the window, so that all faces tell the same number. False: not known.
 */
bool band_past_change(const struct band_past *p, const struct recall *recall, const struct world_target *t,
                      const struct world_band *b, uint64_t window_ns, double *ret_change);

#endif
