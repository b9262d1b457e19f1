/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feed.h - updates for a client command, from running daemons or from finished
 * files, which are read in this process: the same messages either way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/requester.h"
#include "heapwatch/subscriber.h"
#include "proto/wire/update_wish.h"

struct error;
struct event_list;
struct feed;
struct judging;

/* Follows daemons. NULL with a message in `error`. */
struct feed *feed_connect(const struct hw_subscriber_options *options, struct error *error);

/* Reads finished logs, one after the other. `judging` is borrowed for the call; NULL: by default. */
struct feed *feed_files(const char *const *paths, size_t n, const struct judging *judging, struct error *error);

/* The same, but no more than is wanted; of other kinds than wish->kinds no message comes. */
struct feed *feed_files_wanted(const char *const *paths, size_t n, const struct judging *judging,
                               const struct update_wish *wish, struct error *error);

/* Whether further censuses of a log have that band of that run, the newest; those read already have it. */
void feed_want_band(struct feed *feed, uint32_t run, uint32_t band, bool wanted);

/* The same of runs that an archive has (client/past/archive/run_events.c), which are borrowed. */
struct feed *feed_runs(const struct event_list *runs, size_t n, const struct judging *judging, struct error *error);

enum feed_events_wish {
        FEED_EVENT_COUNTS,     /* of each type, alone */
        FEED_EVENTS,           /* each as it was decoded, alone */
        FEED_EVENTS_AND_STATE, /* and with all that feed_files gives */
};

/*
 * The events of one log. The program's arguments are among them only when asked for, its environment never. `ids`:
 * which of all are wanted by FEED_EVENTS, borrowed while the feed is open; NULL: all.
 */
struct feed *feed_events(const char *path, enum feed_events_wish wish, const bool *ids, bool show_arguments,
                         struct error *error);

void feed_close(struct feed **feed);

enum feed_event {
        FEED_NOTHING, /* the time is up, or a signal came */
        FEED_UPDATE,  /* *ret_update, borrowed until the next call */
        FEED_RESET,   /* forget the targets of daemon feed_daemon() */
        FEED_READY,   /* of daemon feed_daemon(): its snapshot is complete; what follows is new */
        FEED_STALE,   /* daemon feed_daemon() is silent */
        FEED_ALIVE,
        FEED_END,   /* files only: everything was delivered */
        FEED_FAILED /* see feed_error() */
};

enum feed_event feed_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update);
size_t feed_daemon(const struct feed *feed);
const char *feed_endpoint(const struct feed *feed, size_t daemon); /* for people: the endpoint, or "files" */
const char *feed_endpoint_of(const void *feed, size_t daemon);     /* the same, to be passed on with its feed */

/* Readable: call feed_next until NOTHING. Files do a bounded part of the reading in each call. */
int feed_fd(const struct feed *feed);

/* Live feeds: every daemon has been READY or is silent, and not all are silent. */
bool feed_complete(const struct feed *feed);
const char *feed_error(const struct feed *feed);
bool feed_is_live(const struct feed *feed);

/* How many daemons it follows, 0 for files; and a new requester for them with the same indices, NULL with errno. */
size_t feed_daemons(const struct feed *feed);
struct hw_requester *feed_requester(const struct feed *feed);

/* feed_loop.c: a feed on an event loop, which has its turn during a flood of updates; and the signals that end it. */

struct event;
struct event_base;

struct feed_loop {
        bool (*receive)(void *ctx);   /* receives one event of the feed; false: there is none now */
        void (*signalled)(void *ctx); /* SIGINT, SIGTERM or SIGHUP came, and is marked (client/cli/signals.h) */
        void *ctx;
        struct event *readable, *again, *beat, *signals[3];
};

/* With the first three members set. False: out of memory. feed_loop_close() either way, before feed and base. */
bool feed_loop_open(struct feed_loop *l, struct event_base *base, const struct feed *feed);
void feed_loop_close(struct feed_loop *l);

/* Nothing more comes from the feed: its files are read. */
void feed_loop_finish(struct feed_loop *l);
