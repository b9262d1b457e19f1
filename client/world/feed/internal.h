/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - the two kinds of feed behind one table of functions. Private to this room. */
#pragma once

#include "client/world/feed/feed.h"

#include "proto/base/error.h"

struct feed_ops {
        enum feed_event (*next)(struct feed *feed, int timeout_ms, const Hw__Update **ret_update);
        void (*close)(struct feed *feed); /* frees the feed, too */
        size_t (*daemon)(const struct feed *feed);
        const char *(*endpoint)(const struct feed *feed, size_t daemon);
        int (*fd)(const struct feed *feed);
        bool (*complete)(const struct feed *feed); /* NULL: only at FEED_END */
        bool live;
        struct hw_requester *(*requester)(const struct feed *feed); /* live feeds only, as the next one */
        size_t (*daemons)(const struct feed *feed);
};

/* First member of each kind's own struct. */
struct feed {
        const struct feed_ops *ops;
        struct error error;
};

/* Leaves a message for feed_error and returns FEED_FAILED. */
enum feed_event feed_fail(struct feed *feed, const char *format, ...) __attribute__((format(printf, 2, 3)));
