/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_events.h - archived runs as the events that their programs would have sent, so that they are judged like any
 * other run (daemon/target/log_reader.h).
 *
 * For each minute they have what the verdict is based on: the minimum of live data, heap and blocks, and their maximum
 * and last values. For bands they have one census per hour, with their means. RSS is in no event.
 */
#ifndef HW_CLIENT_ARCHIVE_RUN_EVENTS_H
#define HW_CLIENT_ARCHIVE_RUN_EVENTS_H

#include "client/archive/read.h"
#include "daemon/target/log_reader.h"

struct run_events {
        struct event_list *lists; /* n of them, in the order of the runs; owned */
        size_t n;
        bool by_hour; /* a part of them is only kept by the hour */
};

/* False with a message. run_events_done() either way. Neither the database nor the runs are needed after that. */
bool run_events_read(struct run_events *e, struct database *d, const struct archived_runs *runs, struct error *error);
void run_events_done(struct run_events *e);

#endif
