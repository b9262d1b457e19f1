/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c - one interface to updates from daemons (feed_live.c) and from finished files (feed_files.c). */
#include "client/world/feed/feed.h"
#include "client/world/feed/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void feed_close(struct feed **feed)
{
        if (*feed)
                (*feed)->close(*feed);
        *feed = NULL;
}

enum feed_event feed_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update)
{
        return feed->next(feed, timeout_ms, ret_update);
}

size_t feed_daemon(const struct feed *feed)
{
        return feed->subscriber ? hw_subscriber_daemon(feed->subscriber) : 0;
}

const char *feed_endpoint(const struct feed *feed, size_t daemon)
{
        if (!feed_is_live(feed))
                return "files";
        return daemon < feed->n_endpoints ? feed->endpoints[daemon] : "?";
}

const char *feed_endpoint_of(const void *feed, size_t daemon)
{
        return feed_endpoint(feed, daemon);
}

int feed_fd(const struct feed *feed)
{
        return feed->fd;
}

const char *feed_error(const struct feed *feed)
{
        return feed->error.text;
}

bool feed_is_live(const struct feed *feed)
{
        return feed->subscriber != NULL;
}

size_t feed_daemons(const struct feed *feed)
{
        return feed->n_endpoints;
}

struct hw_requester *feed_requester(const struct feed *feed)
{
        if (feed_is_live(feed))
                return hw_requester_new((const char *const *)feed->endpoints, feed->n_endpoints);
        errno = EINVAL;
        return NULL;
}

enum feed_event feed_fail(struct feed *feed, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(feed->error.text, sizeof(feed->error.text), format, ap);
        va_end(ap);
        return FEED_FAILED;
}
