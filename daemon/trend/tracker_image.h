/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_image.h - the image of a tracker, see daemon/image/image.h.
 *
 * Reading needs a new tracker; its model, tick callback and limits stay. A
 * different resolution or leak_after is refused: the past cannot be judged
 * again.
 */
#ifndef HW_DAEMON_TREND_TRACKER_IMAGE_H
#define HW_DAEMON_TREND_TRACKER_IMAGE_H

#include "daemon/image/image.h"
#include "daemon/trend/tracker.h"

/* Comes after the image of its model. */
void tracker_image(struct image *im, struct tracker *t);

#endif
