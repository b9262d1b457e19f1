/* SPDX-License-Identifier: BSD-3-Clause */
/* table_events.h - the tables of `heapwatch query` that are made of single events of a log. */
#ifndef HW_CLIENT_QUERY_TABLE_EVENTS_H
#define HW_CLIENT_QUERY_TABLE_EVENTS_H

#include "client/query/tables.h"

extern const struct query_column query_event_columns[], query_thread_columns[];

enum { QUERY_EVENT_COLUMNS = 7, QUERY_THREAD_COLUMNS = 8 };

/* Which events a scan reads: `ret` has a place for each of EVENT_IDS. False: all of them. */
bool query_event_ids(const struct query_scan *s, bool *ret);
bool query_thread_ids(const struct query_scan *s, bool *ret);

void query_add_events(struct query_scan *s, const Hw__Update *u);

/* Threads are known when their run is over, so rows come with the next run's first event, and at the end. */
void query_add_threads(struct query_scan *s, const Hw__Update *u);
void query_finish_threads(struct query_scan *s);
void query_threads_destroy(struct query_threads **t);

#endif
