/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_image.h - the image of a tracker, see daemon/image/image.h.
 *
 * Reading, the tracker must be a new one; its model, listener and limits stay. One that judges by another resolution or
 * leak_after refuses: the past cannot be judged again.
 */
#ifndef HW_DAEMON_TREND_TRACKER_IMAGE_H
#define HW_DAEMON_TREND_TRACKER_IMAGE_H

#include "daemon/image/image.h"
#include "daemon/trend/tracker.h"

/* After that of its model. */
void tracker_image(struct image *im, struct tracker *t);

#endif
