/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/report/profiles.h"

#include <stdlib.h>
#include <time.h>

#include "client/cli/endpoints.h"
#include "client/world/feed/feed.h"
#include "proto/base/clock.h"

#define PAUSE_NS 50000000L

static void read_one(struct report_read *r, const struct feed *feed, enum inspecting_what what)
{
        static const struct timespec pause = { .tv_nsec = PAUSE_NS };
        struct inspecting_options o = { .what = what, .most_bytes = INSPECTING_BYTES };
        struct inspecting *inspecting;

        if (!endpoint_is_here(feed_endpoint(feed, r->target->daemon), &r->error) ||
            !world_process(r->target, &o.pid, &r->error) || !(inspecting = inspecting_new(&o, &r->error)))
                return;
        while (!inspecting_is_done(inspecting))
                (void)nanosleep(&pause, NULL);
        if (inspecting_is_good(inspecting, &r->error))
                r->json = inspecting_detach_text(inspecting);
        inspecting_destroy(&inspecting);
}

void report_inspect(struct report_inspected *ret, const struct world *world, const struct feed *feed,
                    enum inspecting_what what)
{
        *ret = (struct report_inspected){ .n = 0 };
        for (size_t i = 0; i < world_targets(world) && i < REPORT_PROFILES; i++) {
                struct report_read *r = &ret->items[ret->n++];
                *r = (struct report_read){ .target = world_target(world, i), .begin_wall_ns = clock_wall_ns() };
                read_one(r, feed, what);
        }
}

void report_inspected_done(struct report_inspected *p)
{
        for (size_t i = 0; i < p->n; i++)
                free(p->items[i].json);
        p->n = 0;
}

void report_inspected_put(struct json_out *j, const struct report_inspected *p)
{
        json_open(j, '[');
        for (size_t i = 0; i < p->n; i++) {
                const struct report_read *r = &p->items[i];
                json_line(j);
                json_open(j, '{');
                json_member_u64(j, "daemon", r->target->daemon);
                json_member_text(j, "target", r->target->name);
                json_member_text(j, "state", r->json ? "done" : "failed");
                json_member_u64(j, "run", r->target->run);
                json_member_u64_string(j, "beginWallNs", r->begin_wall_ns);
                if (r->json) {
                        json_key(j, "result");
                        json_raw(j, r->json);
                } else {
                        json_member_text(j, "error", r->error.text);
                }
                json_close(j, '}');
        }
        json_close(j, ']');
}
