/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answered.h - what was last sent to browsers about each target (client/answers): an answer goes out again when it has
 * changed. Knows nothing of connections.
 */
#ifndef HW_CLIENT_WEB_ANSWERED_H
#define HW_CLIENT_WEB_ANSWERED_H

#include "client/state/kept.h"
#include "client/web/update_batch.h"

/* Zeroed: nothing was sent. */
struct answered {
        struct kept targets;
};

/* Adds to `p` the answers that have changed since the previous call. False: out of memory, some may be missing. */
bool answered_gather(struct answered *a, const struct world *w, bool live, struct update_batch *p);

void answered_done(struct answered *a);

#endif
