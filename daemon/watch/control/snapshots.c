/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/pending.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/publish/encode.h"
#include "daemon/watch/control/requests.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/watch/targets/targets.h"
#include "daemon/publish/transport/bus.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"

/* One turn. */
struct turn {
        struct snapshot_answer *answer;
        const Hw__SnapshotRequest *wanted;
        struct targets *targets;
        struct bus_client *client;
        uint64_t *moved_ns;
        uint64_t began_ns;
        bool any;  /* was taken in this turn */
        bool gone; /* the client */
};

/* Counts as taken also when the client is gone: there is nothing more to do then. */
static bool offer(struct turn *t, Hw__Reply *reply)
{
        const enum bus_took took = bus_offer(t->client, reply);

        if (took == BUS_TAKES_LATER)
                return false;
        t->gone = t->gone || took == BUS_GONE;
        *t->moved_ns = clock_mono_ns();
        t->any = true;
        return true;
}

static bool offer_update(void *turn, const Hw__Update *update)
{
        Hw__Reply reply = HW__REPLY__INIT;

        PUT(&reply, more, true);
        reply.what_case = HW__REPLY__WHAT_UPDATE;
        reply.update = (Hw__Update *)update;
        return offer(turn, &reply);
}

static bool is_over(void *turn)
{
        const struct turn *t = turn;

        return t->any && clock_mono_ns() - t->began_ns >= LIMIT_PUMP_NS;
}

static bool offer_end(struct turn *t)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__SnapshotEnd end = HW__SNAPSHOT_END__INIT;

        PUT(&end, epoch, targets_epoch(t->targets));
        reply.what_case = HW__REPLY__WHAT_SNAPSHOT_END;
        reply.snapshot_end = &end;
        return offer(t, &reply);
}

static bool is_wanted(const Hw__SnapshotRequest *request, const char *name)
{
        for (size_t i = 0; i < request->n_targets; i++)
                if (!strcmp(request->targets[i], name))
                        return true;
        return request->n_targets == 0;
}

/* The target that is next, or goes on; NULL: there are no more. */
static struct pipeline *next_target(struct snapshot_answer *a, const struct targets *targets)
{
        struct pipeline *p = a->at < targets_count(targets) ? targets_get(targets, a->at) : NULL;

        if (!a->name[0] || (p && !strcmp(a->name, pipeline_name(p))))
                return p;
        for (size_t i = 0; i < targets_count(targets); i++)
                if (!strcmp(a->name, pipeline_name(targets_get(targets, i)))) {
                        a->at = i;
                        return targets_get(targets, i);
                }
        a->target = (struct snapshot){ 0 };
        return p;
}

/* 0, or as of publisher_snapshot. */
static int offer_target(struct turn *t, struct pipeline *p)
{
        struct snapshot_answer *a = t->answer;
        int status = 0;

        (void)snprintf(a->name, sizeof(a->name), "%s", pipeline_name(p));
        if (is_wanted(t->wanted, a->name)) {
                a->target.kinds = t->wanted->kinds;
                a->target.n_kinds = t->wanted->n_kinds;
                a->target.each = offer_update;
                a->target.is_over = is_over;
                a->target.ctx = t;
                status = pipeline_snapshot(p, &a->target);
        }
        if (status == 0) {
                a->target = (struct snapshot){ 0 };
                a->name[0] = '\0';
                a->at++;
        }
        return status;
}

bool snapshot_answer(struct snapshot_answer *a, const Hw__SnapshotRequest *wanted, struct targets *targets,
                     struct bus_client *client, uint64_t *moved_ns)
{
        struct turn t = { .answer = a,
                          .wanted = wanted,
                          .targets = targets,
                          .client = client,
                          .moved_ns = moved_ns,
                          .began_ns = clock_mono_ns() };

        if (!a->begun && !offer_update(&t, targets_daemon_state(targets)))
                return false;
        a->begun = true;
        /* Of all targets; true: that was all. */
        struct pipeline *p;
        while (!t.gone && (p = next_target(t.answer, t.targets))) {
                const int status = offer_target(&t, p);
                if (status == -EAGAIN)
                        return false;
                if (status != 0) /* no SNAPSHOT_END: it is incomplete */
                        return offer_retry(t.client, out_of_memory);
                if (is_over(&t))
                        return false;
        }
        return t.gone || offer_end(&t);
}
