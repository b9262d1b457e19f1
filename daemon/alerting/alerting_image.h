/* SPDX-License-Identifier: BSD-3-Clause */
/* alerting_image.h - the image of a target's alerting, see daemon/image/image.h; reading needs a new one. */
#ifndef HW_DAEMON_ALERTING_ALERTING_IMAGE_H
#define HW_DAEMON_ALERTING_ALERTING_IMAGE_H

#include "daemon/alerting/alerting.h"
#include "daemon/image/image.h"

/* Comes after the images of model and tracker. */
void alerting_image(struct image *im, struct alerting *a);

#endif
