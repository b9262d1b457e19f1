/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outcomes.h - the outcomes of each alert's actions, as reported by the
 * notifier, for the alert's message.
 *
 * Bounded; those of an alert that have not been looked up for OUTCOME_KEEP_NS
 * (it is no longer published) are dropped.
 */
#ifndef HW_DAEMON_ALERTING_OUTCOMES_H
#define HW_DAEMON_ALERTING_OUTCOMES_H

#include <stdint.h>

#include "heapwatch/wire.h"

#define OUTCOMES_MAX         8192u /* alerts; outcomes of more are not shown */
#define OUTCOME_ACTIONS_MAX  16u   /* of one alert */
#define OUTCOME_DETAIL_BYTES 512u  /* of one action; longer ones are refused */
#define OUTCOME_KEEP_NS      60000000000u

struct image;
struct outcomes;

/* NULL when out of memory. */
struct outcomes *outcomes_new(void);
void outcomes_destroy(struct outcomes **o);

/*
 * Replaces those of its alert; takes a reference to the message, which is part of an unpacked request. Returns NULL or,
 * with nothing changed, a sentence. Time: any steady clock.
 */
const char *outcomes_set(struct outcomes *o, const Hw__AlertOutcome *outcome, uint64_t now_ns);

/* Those of an alert in the order of its actions, or NULL. Valid until the next outcomes_set. */
const Hw__AlertOutcome *outcomes_find(struct outcomes *o, uint64_t alert, uint64_t now_ns);

/*
 * Writing: those of an alert, if there are any. Reading, `alert` ignored: adds what was written. They come with the
 * checkpoint of the alert's target, for the notifier reports each result once.
 */
void outcomes_image(struct image *im, struct outcomes *o, uint64_t alert, uint64_t now_ns);

#endif
