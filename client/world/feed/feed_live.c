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
        struct hw_subscriber *subscriber;
        char **endpoints;
        bool *answered; /* by endpoint: its snapshot is complete, or it is silent */
        size_t n_endpoints;
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
        f->answered[hw_subscriber_daemon(f->subscriber)] = true;
        f->some = f->some || delivered;
}

static bool live_complete(const struct feed *feed)
{
        const struct feed_live *f = live_of(feed);

        for (size_t i = 0; i < f->n_endpoints; i++) {
                if (!f->answered[i])
                        return false;
        }
        return f->some;
}

static enum feed_event live_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update)
{
        int r = hw_subscriber_next(live_of(feed)->subscriber, timeout_ms, ret_update);

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

        hw_subscriber_destroy(&f->subscriber);
        for (size_t i = 0; i < f->n_endpoints; i++)
                free(f->endpoints[i]);
        free(f->endpoints);
        free(f->answered);
        free(f);
}

static size_t live_daemon(const struct feed *feed)
{
        return hw_subscriber_daemon(live_of(feed)->subscriber);
}

static const char *live_endpoint(const struct feed *feed, size_t daemon)
{
        return daemon < live_of(feed)->n_endpoints ? live_of(feed)->endpoints[daemon] : "?";
}

static int live_fd(const struct feed *feed)
{
        return hw_subscriber_fd(live_of(feed)->subscriber);
}

static size_t live_daemons(const struct feed *feed)
{
        return live_of(feed)->n_endpoints;
}

static struct hw_requester *live_requester(const struct feed *feed)
{
        return hw_requester_new((const char *const *)live_of(feed)->endpoints, live_of(feed)->n_endpoints);
}

static const struct feed_ops live_ops = {
        .next = live_next,
        .close = live_close,
        .daemon = live_daemon,
        .endpoint = live_endpoint,
        .fd = live_fd,
        .complete = live_complete,
        .live = true,
        .requester = live_requester,
        .daemons = live_daemons,
};

/* Copies the endpoints for feed_endpoint; the default one when none is given. */
static bool name_endpoints(struct feed_live *f, const struct hw_subscriber_options *o)
{
        char publish[256], request[256];
        const char *only = publish;
        const char *const *from = o->endpoints;
        size_t n = o->n_endpoints;

        if (!from || !n) {
                if (hw_default_endpoints(publish, request, sizeof(publish)) < 0)
                        return false;
                from = &only;
                n = 1;
        }
        f->endpoints = calloc(n, sizeof(*f->endpoints));
        f->answered = calloc(n, sizeof(*f->answered));
        if (!f->endpoints || !f->answered)
                return false;
        for (f->n_endpoints = 0; f->n_endpoints < n; f->n_endpoints++) {
                f->endpoints[f->n_endpoints] = strdup(from[f->n_endpoints]);
                if (!f->endpoints[f->n_endpoints])
                        return false;
        }
        return true;
}

/* What the subscriber would refuse, by name. */
static bool well_formed(const struct feed_live *f, const struct hw_subscriber_options *o, struct error *error)
{
        char request[ENDPOINT_MAX];

        for (size_t i = 0; i < o->n_targets; i++) {
                if (!hw_target_name_valid(o->targets[i]))
                        return error_set(error,
                                         "'%s' cannot be a target: names are 1 to 64 letters, digits and . _ ~ -",
                                         o->targets[i]);
        }
        for (size_t i = 0; i < f->n_endpoints; i++) {
                if (absent_for_good(f->endpoints[i], error))
                        return false;
                if (endpoint_request(request, sizeof(request), f->endpoints[i]) < 0)
                        return error_set(error,
                                         "%s: no daemon publishes at such an endpoint; expected "
                                         "ipc://DIRECTORY/publish or tcp://HOST:PORT",
                                         f->endpoints[i]);
        }
        return true;
}

struct feed *feed_connect(const struct hw_subscriber_options *options, struct error *error)
{
        struct feed_live *f = calloc(1, sizeof(*f));
        struct feed *feed = f ? &f->feed : NULL;

        if (!f) {
                error_set(error, "out of memory");
                return NULL;
        }
        f->feed.ops = &live_ops;
        if (!name_endpoints(f, options)) {
                error_set(error, "the default socket's path is too long; give --connect");
                feed_close(&feed);
                return NULL;
        }
        if (!well_formed(f, options, error)) {
                feed_close(&feed);
                return NULL;
        }
        f->subscriber = hw_subscriber_new(options);
        if (!f->subscriber) {
                error_set(error, "subscribing failed: %s", strerror(errno));
                feed_close(&feed);
        }
        return feed;
}
