/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the two kinds of feed have in common. Private to this room. */
#pragma once

#include "client/world/feed/feed.h"

#include "proto/base/error.h"

/* First member of each kind's own struct. */
struct feed {
        enum feed_event (*next)(struct feed *feed, int timeout_ms, const Hw__Update **ret_update);
        void (*close)(struct feed *feed); /* frees the feed, too */
        int fd;
        struct hw_subscriber *subscriber; /* NULL: files */
        char **endpoints;                 /* of daemons, owned; none: files */
        size_t n_endpoints;
        struct error error;
};

/* Leaves a message for feed_error and returns FEED_FAILED. */
enum feed_event feed_fail(struct feed *feed, const char *format, ...) __attribute__((format(printf, 2, 3)));
