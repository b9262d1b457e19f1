/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerts_image.h - the image of a target's alerts, see daemon/image/image.h.
 *
 * Alerts of rules that are still in force, unchanged, keep their states and
 * clocks; others are left out. When reading, there must be no alerts yet.
 */
#ifndef HW_DAEMON_RULES_ALERTS_IMAGE_H
#define HW_DAEMON_RULES_ALERTS_IMAGE_H

#include "daemon/image/image.h"
#include "daemon/rules/alerts.h"

void alerts_image(struct image *im, struct alerts *a);

#endif
