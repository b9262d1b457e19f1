/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a tick ten times a second makes the checkpoints that are due, the
 * oldest first, until the tick has taken TICK_NS or enough waits for the disk.
 * So the work of many targets is spread evenly, and one turn of the loop copies
 * one large target or some small ones.
 */
#include "daemon/watch/targets/targets.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/record/checkpoint/store.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/record/recorder.h"
#include "daemon/record/recording.h"
#include "daemon/source/uri.h"
#include "daemon/source/loop/shutdown.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/watch/targets/pipeline_checkpoint.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"

#define TICK_US 100000
#define TICK_NS UINT64_C(4000000) /* of work */

struct checkpoints {
        struct targets *targets;
        struct checkpoint_store *store;
        struct event *tick;
        uint64_t every_ns;
};

/* False: there is none of it now. */
static bool make_checkpoint(struct checkpoints *c, struct pipeline *p, bool last)
{
        struct recording *recording = pipeline_recording(p);
        const uint64_t sealed = recording ? recording_seal(recording) : 0;
        size_t n = 0;

        watchdog_begin(WATCHDOG_HOUSEKEEPING);
        watchdog_of(pipeline_name(p));
        uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
        uint8_t *image = pipeline_checkpoint(p, last, &n);
        log_debug("target=%s checkpoint bytes=%zu cpu_us=%llu", pipeline_name(p), n,
                  (unsigned long long)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / 1000);
        if (image)
                checkpoint_store_put(c->store, pipeline_name(p), image, n, clock_wall_ns(), sealed);
        watchdog_end();
        return image != NULL;
}

/* A target whose run has ended since its checkpoint, else the one that has been due for longest; NULL: none is due. */
static struct pipeline *most_due(const struct checkpoints *c, uint64_t now_ns)
{
        struct pipeline *oldest = NULL;

        for (size_t i = 0; i < targets_count(c->targets); i++) {
                struct pipeline *p = targets_get(c->targets, i);
                uint64_t made_ns = pipeline_checkpoint_mono_ns(p);
                if (pipeline_end_is_dirty(p))
                        return p;
                if (sub_sat(now_ns, made_ns) < c->every_ns || !pipeline_is_dirty(p))
                        continue;
                if (!oldest || made_ns < pipeline_checkpoint_mono_ns(oldest))
                        oldest = p;
        }
        return oldest;
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
        struct checkpoints *c = ctx;
        uint64_t began_ns = clock_mono_ns(), now_ns = began_ns;
        struct pipeline *p;

        while (now_ns - began_ns < TICK_NS && checkpoint_store_has_room(c->store) && (p = most_due(c, now_ns))) {
                make_checkpoint(c, p, false);
                now_ns = clock_mono_ns();
        }
}

struct checkpoints *checkpoints_new(struct event_base *base, struct targets *targets, struct checkpoint_store *store,
                                    struct recorder *recorder, uint64_t every_ns)
{
        static const struct timeval tick = { .tv_usec = TICK_US };
        struct checkpoints *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        c->targets = targets;
        c->store = store;
        c->every_ns = every_ns;
        if (recorder)
                checkpoint_store_after(store, recorder_wait, recorder);
        c->tick = event_new(base, -1, EV_PERSIST, on_tick, c);
        if (!c->tick || event_add(c->tick, &tick) != 0) {
                free_event(&c->tick);
                free(c);
                return NULL;
        }
        return c;
}

void checkpoints_destroy(struct checkpoints **cp)
{
        struct checkpoints *c = *cp;
        size_t left = 0;

        *cp = NULL;
        if (!c)
                return;
        event_free(c->tick);
        for (size_t i = 0; i < targets_count(c->targets); i++)
                if (shutdown_left_ns(STOP_COPIES) == 0 || !make_checkpoint(c, targets_get(c->targets, i), true))
                        left++;
        if (left)
                log_warning("checkpoint=%s %zu targets keep the one before: no last one could be made in time",
                            checkpoint_store_directory(c->store), left);
        free(c);
}

/* -------------------------------------------------------- targets of requests */

struct adding {
        struct targets *targets;
        const struct checkpoint_store *store;
};

static void add_target(void *ctx, const char *name)
{
        const struct adding *a = ctx;
        struct checkpoint_target head;
        struct source_uri uri;
        struct checkpoint c;
        struct error error;

        if (targets_find(a->targets, name))
                return;
        if (checkpoint_read(checkpoint_store_directory(a->store), name, &c, &error) != 0) {
                log_warning("target=%s checkpoint refused: %s; add the target again", name, error.text);
                return;
        }
        bool good = checkpoint_target_read(c.image, c.n, &head) && !strcmp(head.name, name) &&
                    source_uri_parse(head.uri, &uri, &error);
        free(c.image);
        if (!good) {
                log_warning("target=%s checkpoint refused: it does not name a valid source", name);
                return;
        }
        const struct target_wish wish = { .resolution_ns = head.resolution_ns,
                                          .one_run = head.one_run,
                                          .no_record = head.no_record,
                                          .labels = head.labels,
                                          .process_only_reason = head.process_only_reason };
        if (targets_add(a->targets, name, &uri, &wish, NULL, &error) != 0)
                log_warning("target=%s cannot be restored: %s", name, error.text);
}

void checkpoints_add_targets(struct targets *targets, const struct checkpoint_store *store)
{
        struct adding a = { targets, store };

        checkpoint_store_each(store, add_target, &a);
}
