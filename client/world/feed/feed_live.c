/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_live.c - updates from running daemons: libheapwatch's subscriber, with names for its endpoints. */
#include "client/world/feed/internal.h"
#include "client/cli/absent.h"
#include "proto/base/error.h"
#include "proto/wire/endpoints.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define TRIM_UPDATES 20000u /* some seconds of 1,000 targets */

struct feed_live {
        struct feed feed;
        bool *answered; /* by endpoint: its snapshot is complete, or it is silent */
        bool some;      /* at least one has delivered */
        unsigned taken; /* updates since freed memory was given back */
};

static struct feed_live *live_of(const struct feed *feed)
{
        return (struct feed_live *)feed;
}

/* ZeroMQ's thread reads ahead into memory of its own, tens of MiB after a pause, which malloc would keep. */
static void trim_freed_memory(struct feed_live *f)
{
        if (++f->taken < TRIM_UPDATES)
                return;
        f->taken = 0;
        (void)malloc_trim(0);
}

static void mark_answered(struct feed_live *f, bool delivered)
{
        f->answered[hw_subscriber_daemon(f->feed.subscriber)] = true;
        f->some = f->some || delivered;
}

bool feed_complete(const struct feed *feed)
{
        const struct feed_live *f = live_of(feed);

        for (size_t i = 0; i < feed->n_endpoints; i++) {
                if (!f->answered[i])
                        return false;
        }
        return feed_is_live(feed) && f->some;
}

static enum feed_event live_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update)
{
        int r = hw_subscriber_next(feed->subscriber, timeout_ms, ret_update);

        switch (r) {
        case HW_SUBSCRIBER_NOTHING:
        case -EINTR:
                return FEED_NOTHING;
        case HW_SUBSCRIBER_UPDATE:
                trim_freed_memory(live_of(feed));
                return FEED_UPDATE;
        case HW_SUBSCRIBER_RESET:
                return FEED_RESET;
        case HW_SUBSCRIBER_READY:
                mark_answered(live_of(feed), true);
                return FEED_READY;
        case HW_SUBSCRIBER_STALE:
                mark_answered(live_of(feed), false);
                return FEED_STALE;
        case HW_SUBSCRIBER_ALIVE:
                return FEED_ALIVE;
        default:
                return feed_fail(feed, "following the daemon failed: %s", strerror(r < 0 ? -r : EPROTO));
        }
}

static void live_close(struct feed *feed)
{
        struct feed_live *f = live_of(feed);

        hw_subscriber_destroy(&feed->subscriber);
        for (size_t i = 0; i < feed->n_endpoints; i++)
                free(feed->endpoints[i]);
        free(feed->endpoints);
        free(f->answered);
        free(f);
}

/* Copies the endpoints for feed_endpoint; the default one when none is given. */
static bool name_endpoints(struct feed_live *f, const struct hw_subscriber_options *o)
{
        char publish[256], request[256];
        const char *only = publish;
        const char *const *from = o->endpoints;
        struct feed *feed = &f->feed;
        size_t n = o->n_endpoints;

        if (!from || !n) {
                if (hw_default_endpoints(publish, request, sizeof(publish)) < 0)
                        return false;
                from = &only;
                n = 1;
        }
        feed->endpoints = calloc(n, sizeof(*feed->endpoints));
        f->answered = calloc(n, sizeof(*f->answered));
        bool good = feed->endpoints && f->answered;
        for (; good && feed->n_endpoints < n; feed->n_endpoints += good)
                good = (feed->endpoints[feed->n_endpoints] = strdup(from[feed->n_endpoints])) != NULL;
        return good;
}

/* What the subscriber would refuse, by name. */
static bool well_formed(const struct feed *feed, const struct hw_subscriber_options *o, struct error *error)
{
        char request[ENDPOINT_MAX];

        for (size_t i = 0; i < o->n_targets; i++) {
                if (!hw_target_name_valid(o->targets[i]))
                        return error_set(error,
                                         "'%s' cannot be a target: names are 1 to 64 letters, digits and . _ ~ -",
                                         o->targets[i]);
        }
        for (size_t i = 0; i < feed->n_endpoints; i++) {
                if (absent_for_good(feed->endpoints[i], error))
                        return false;
                if (endpoint_request(request, sizeof(request), feed->endpoints[i]) < 0)
                        return error_set(error,
                                         "%s: no daemon publishes at such an endpoint; expected "
                                         "ipc://DIRECTORY/publish or tcp://HOST:PORT",
                                         feed->endpoints[i]);
        }
        return true;
}

struct feed *feed_connect(const struct hw_subscriber_options *options, struct error *error)
{
        struct feed_live *f = calloc(1, sizeof(*f));

        if (!f) {
                error_set(error, "out of memory");
                return NULL;
        }
        struct feed *feed = &f->feed;
        feed->next = live_next;
        feed->close = live_close;
        if (!name_endpoints(f, options))
                error_set(error, "the default socket's path is too long; give --connect");
        else if (well_formed(feed, options, error) && !(feed->subscriber = hw_subscriber_new(options)))
                error_set(error, "subscribing failed: %s", strerror(errno));
        if (feed->subscriber)
                feed->fd = hw_subscriber_fd(feed->subscriber);
        else
                feed_close(&feed);
        return feed;
}
