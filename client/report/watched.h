/* SPDX-License-Identifier: BSD-3-Clause */
/* watched.h - targets of daemons for a report: what is known of them now, and what is remembered of the time before. */
#ifndef HW_CLIENT_REPORT_WATCHED_H
#define HW_CLIENT_REPORT_WATCHED_H

#include <stdbool.h>

#include "client/cli/options.h"
#include "client/feed/feed.h"
#include "client/state/world.h"

/* After their snapshot: adds the past of these targets. False after printing which is not there, or what is missing. */
bool watched_complete(struct feed *feed, struct world *world, const struct text_list *targets);

#endif
