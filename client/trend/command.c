/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch trend`: does it leak, where, since when, until when.
 *
 * DESIGN: from a daemon only the snapshot is needed: it is printed once it is
 * complete. From files each run is printed when the next one begins.
 */
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/cli/absent.h"
#include "client/feed/gather.h"
#include "client/feed/locate.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/trend/trend.h"
#include "proto/base/error.h"

struct request {
        struct text_list operands, endpoints, targets, files; /* operands: targets or files */
        struct trend_show show;
        int order, fails; /* as chosen; fails: -1 never */
        bool json;
        Hw__Verdict fail_on; /* UNKNOWN: never */
        struct text_list daemon_args;
};

struct reading {
        const struct request *request;
        struct world *world;
        size_t printed;
        Hw__Verdict worst;
};

/* -------------------------------------------------------------- options */

static const char *const orders[] = { "gained", "slope", "size", "name", NULL };
static const char *const verdicts[] = { "growing", "leak", NULL };

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "TARGET|FILE...", struct text_list, 0, 0, struct request, operands,
                COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json, "text (default), or one object a line with all numbers"),
        OPTION_CHOICE("sort", 's', "KEY", int, struct request, order, orders,
                      "order of bands: gained (default), slope, size, name"),
        OPTION_NUMBER("bands", 'b', size_t, struct request, show.bands, 0, 100000, "bands shown (default 10)"),
        OPTION_FLAG("windows", 'w', struct request, show.windows,
                    "statistics over 10 m, 1 h, 6 h, 24 h and the run under each row"),
        OPTION_CHOICE("fail-on", 0, "growing|leak", int, struct request, fails, verdicts,
                      "exit with 1 when something is growing, or a leak"),
        OPTION_CONNECT(struct request, endpoints),
        OPTIONS_OF_TREND(struct request, daemon_args),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct request *r = filled;

        r->show.order = (enum trend_order)r->order;
        r->fail_on = r->fails < 0 ? HW__VERDICT__VERDICT_UNKNOWN
                     : r->fails   ? HW__VERDICT__VERDICT_LEAK
                                  : HW__VERDICT__VERDICT_GROWING;
        for (size_t i = 0; i < r->operands.n; i++) {
                const char *what = r->operands.items[i];
                (void)text_list_add(&command_trend, locate_is_log(what) ? &r->files : &r->targets, what);
        }
        if (r->files.n && (r->targets.n || r->endpoints.n))
                return command_usage_error(&command_trend, "%s is not a file; files and targets exclude each other",
                                           r->targets.n ? r->targets.items[0] : "--connect");
        if (!r->files.n && r->daemon_args.n)
                return command_usage_error(&command_trend, "%s belongs to files; a daemon has its own",
                                           r->daemon_args.items[0]);
        return 0;
}

/* --------------------------------------------------------------- output */

static void print(struct reading *r, const struct world_target *t)
{
        Hw__Verdict worst = trend_worst(t);

        if (!t->run)
                return;
        if (r->printed++ && !r->request->json)
                fputc('\n', stdout);
        if (r->request->json)
                trend_json(stdout, t);
        else
                trend_text(stdout, t, &r->request->show);
        if (worst > r->worst)
                r->worst = worst;
}

static bool wanted(const struct request *r, const char *name)
{
        for (size_t i = 0; i < r->targets.n; i++)
                if (!strcmp(r->targets.items[i], name))
                        return true;
        return r->targets.n == 0;
}

static void print_all(struct reading *r)
{
        for (size_t i = 0; i < world_targets(r->world); i++)
                if (wanted(r->request, world_target(r->world, i)->name))
                        print(r, world_target(r->world, i));
}

/* ------------------------------------------------------------- messages */

static int take(void *ctx, size_t daemon, const Hw__Update *u)
{
        struct reading *r = ctx;

        if (r->request->files.n && u->has_run && u->target) {
                const struct world_target *t = world_find(r->world, u->target);
                if (t && t->run && u->run > t->run)
                        print(r, t);
        }
        return world_apply(r->world, daemon, u);
}

static void reset(void *ctx, size_t daemon)
{
        world_reset(((struct reading *)ctx)->world, daemon);
}

static struct feed *open_feed(const struct request *r, struct error *error)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_BAND, HW__KIND__KIND_CENSUS,
                                          HW__KIND__KIND_HEAP, HW__KIND__KIND_TREND };
        struct hw_subscriber_options o = {
                .endpoints = r->endpoints.n ? r->endpoints.items : NULL,
                .n_endpoints = r->endpoints.n,
                .targets = r->targets.n ? r->targets.items : NULL,
                .n_targets = r->targets.n,
                .kinds = kinds,
                .n_kinds = sizeof(kinds) / sizeof(kinds[0]),
        };

        if (r->files.n)
                return feed_files(r->files.items, r->files.n, r->daemon_args.items, error);
        return feed_connect(&o, error);
}

/* The first given target that no daemon has; NULL: none. */
static const char *absent_of(const struct request *request, const struct world *world)
{
        for (size_t i = 0; i < request->targets.n; i++)
                if (!world_find(world, request->targets.items[i]))
                        return request->targets.items[i];
        return NULL;
}

static int show(const struct request *request)
{
        struct reading r = { .request = request, .world = world_new(NULL) };
        struct error error = { "out of memory" };
        struct feed *feed = r.world ? open_feed(request, &error) : NULL;
        int status = EXIT_USAGE;

        if (!feed) {
                command_error(&command_trend, "%s", error.text);
                world_destroy(&r.world);
                return EXIT_USAGE;
        }
        bool good = gather(feed, &(struct gatherer){ &command_trend, take, reset, &r });
        print_all(&r);
        if (good && !r.printed && absent_of(request, r.world))
                (void)absent_target(&command_trend, feed_endpoint(feed, 0), absent_of(request, r.world));
        else if (good && !r.printed)
                command_error(&command_trend, "no run of a target yet");
        else if (good)
                status = request->fail_on && r.worst >= request->fail_on ? EXIT_FINDING : EXIT_OK;
        feed_close(&feed);
        world_destroy(&r.world);
        return status;
}

static int run(void *filled)
{
        signals_catch();
        int status = show(filled);
        signals_die();
        return status;
}

const struct command command_trend = {
        .name = "trend",
        .summary = "does it leak, where, since when, until when",
        .usage = (const char *const[]){ "[TARGET]... [--connect EP]... [OPTION]...", "FILE... [OPTION]...", NULL },
        .about =
                "For each target, or each run in finished eventlogs: whether memory leaks, where it grows, since when, "
                "and when it reaches the limit; then a row for each series and for the bands of the heap "
                "profile: verdict (unknown, steady, growing, leak), size now, robust slope with its interval, what it "
                "gained at least over the window that decided, the length of that window, and the time in the run at "
                "which growth began. docs/VERDICT.md explains how a verdict is reached. An argument that names a file "
                "is one.",
        .options = options,
        .status = "0, 1 as --fail-on says, 2 when there is nothing to read.",
        .examples =
                (const char *const[]){
                        "heapwatch trend api-1",
                        "heapwatch trend run.eventlog --resolution 1s --fail-on leak",
                        "heapwatch trend --format json run.eventlog | jq .trends.growth.where",
                        NULL,
                },
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .show = { .bands = 10 }, .fails = -1 },
        .check = check,
        .run = run,
};
