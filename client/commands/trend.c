/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trend.c - `heapwatch trend`: does it leak, where, since when, until when.
 *
 * DESIGN: from a daemon only the snapshot is needed: it is printed once it is
 * complete. From files each run is printed when the next one begins.
 */
#include <stdlib.h>

#include "client/past/archive/read.h"
#include "client/cli/command.h"
#include "client/cli/absent.h"
#include "client/world/feed/gather.h"
#include "client/world/feed/selection.h"
#include "client/cli/options.h"
#include "client/commands/trend.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

struct request {
        struct selection from;
        struct trend_show show;
        int order, fails; /* as chosen; fails: -1 never */
        bool json, all;
        Hw__Verdict fail_on; /* UNKNOWN: never */
        uint64_t since_ns;   /* 0: what daemons know now, or files */
        const char *db;
        struct run_events archived; /* of --since */
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
        OPERAND(OPTION_IS_LIST, "TARGET|FILE...", struct text_list, 0, 0, struct request, from.operands,
                COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json, "text (default), or one object a line with all numbers"),
        OPTION_FLAG("all", 'a', struct request, all, "details of each target, as with its name"),
        OPTION_CHOICE("sort", 's', "KEY", int, struct request, order, orders,
                      "order of bands: gained (default), slope, size, name"),
        OPTION_NUMBER("bands", 'b', size_t, struct request, show.bands, 0, 100000, "bands shown (default 10)"),
        OPTION_FLAG("windows", 'w', struct request, show.windows,
                    "statistics over 10 m, 1 h, 6 h, 24 h and the run under each row"),
        OPTION_CHOICE("fail-on", 0, "growing|leak", int, struct request, fails, verdicts,
                      "exit with 1 when something is growing, or a leak"),
        OPTION_DURATION("since", 0, struct request, since_ns, UINT64_C(60000000000), 0,
                        "of an archive: each run of these targets in this time, such as 30d (docs/ARCHIVE.md)"),
        OPTION_TEXT("db", 0, "FILE", struct request, db, COMPLETE_FILE,
                    "the archive for --since; default: that of `heapwatch archive`"),
        OPTION_CONNECT(struct request, from.endpoints),
        OPTIONS_OF_TREND(struct request, from.judging),
        OPTIONS_END,
};

/* The answers are made from all kinds of state. */
static const struct update_wish wish = { .no_samples = true, .last_notes = true, .ends_alone = true };

static int check_request(void *filled)
{
        struct request *r = filled;

        r->from.wish = wish;
        const int status =
                r->since_ns ? selection_sort(&command_trend, &r->from) : selection_check(&command_trend, &r->from);

        if (status)
                return status;
        r->show.order = (enum trend_order)r->order;
        r->fail_on = r->fails < 0 ? HW__VERDICT__VERDICT_UNKNOWN
                     : r->fails   ? HW__VERDICT__VERDICT_LEAK
                                  : HW__VERDICT__VERDICT_GROWING;
        if (r->since_ns && (r->from.files.n || r->from.endpoints.n || !r->from.targets.n))
                return command_usage_error(&command_trend, "--since: expected targets that an archive has");
        if (r->db && !r->since_ns)
                return command_usage_error(&command_trend, "--db belongs to --since");
        return 0;
}

/* --------------------------------------------------------------- output */

static void print_target(struct reading *r, const struct world_target *t)
{
        Hw__Verdict worst = trend_worst(t);
        struct trend_show show = r->request->show;

        show.live = r->request->from.files.n == 0 && r->request->archived.n == 0;
        if (!t->run)
                return;
        if (r->printed++ && !r->request->json)
                fputc('\n', stdout);
        if (r->request->json)
                trend_json(stdout, t, show.live);
        else
                trend_text(stdout, t, &show);
        if (worst > r->worst)
                r->worst = worst;
}

/* Without names: what needs care first, and no more of each than a line. */
static void print_list(struct reading *r)
{
        const size_t n = world_targets(r->world);
        const struct world_target **all = calloc(n + 1, sizeof(const struct world_target *));

        for (size_t i = 0; all && i < n; i++) {
                const struct world_target *t = world_target(r->world, i);

                if (!t->run)
                        continue;
                all[r->printed++] = t;
                if (trend_worst(t) > r->worst)
                        r->worst = trend_worst(t);
        }
        if (all)
                trend_list(stdout, all, r->printed, true);
        free(all);
}

static void print_all(struct reading *r)
{
        const struct request *q = r->request;

        if (!q->from.files.n && !q->archived.n && !q->from.targets.n && !q->json && !q->all && !q->show.windows) {
                print_list(r);
                return;
        }
        for (size_t i = 0; i < world_targets(r->world); i++)
                if (selection_has_target(&q->from, world_target(r->world, i)->name))
                        print_target(r, world_target(r->world, i));
}

/* ------------------------------------------------------------- messages */

static int apply_update(void *ctx, size_t daemon, const Hw__Update *u)
{
        struct reading *r = ctx;

        if ((r->request->from.files.n || r->request->archived.n) && u->has_run && u->target) {
                const struct world_target *t = world_find(r->world, u->target);
                if (t && t->run && u->run > t->run)
                        print_target(r, t);
        }
        return world_apply(r->world, daemon, u);
}

static struct feed *open_feed(const struct request *r, struct error *error)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_BAND,   HW__KIND__KIND_CENSUS,
                                          HW__KIND__KIND_HEAP,   HW__KIND__KIND_GC,     HW__KIND__KIND_TREND,
                                          HW__KIND__KIND_NOTE,   HW__KIND__KIND_HEALTH, HW__KIND__KIND_ALERT };
        if (r->archived.n)
                return feed_runs(r->archived.lists, r->archived.n, &r->from.judging, error);
        return selection_open(&r->from, kinds, ARRAY_SIZE(kinds), error);
}

/* The first given target that no daemon has; NULL: none. */
static const char *absent_of(const struct request *request, const struct world *world)
{
        for (size_t i = 0; i < request->from.targets.n; i++)
                if (!world_find(world, request->from.targets.items[i]))
                        return request->from.targets.items[i];
        return NULL;
}

static int show_targets(const struct request *request)
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
        const struct gatherer g = { .command = &command_trend, .world = r.world, .take = apply_update, .ctx = &r };
        const enum gather_end gathered = gather(feed, &g);
        bool good = gathered != GATHERED_FAILED;
        print_all(&r);
        if (good && !r.printed && absent_of(request, r.world))
                (void)absent_target(&command_trend, feed_endpoint(feed, 0), absent_of(request, r.world));
        else if (good && !r.printed)
                command_error(&command_trend, "no run of a target yet");
        else if (good)
                status = gather_status(gathered,
                                       request->fail_on && r.worst >= request->fail_on ? EXIT_FINDING : EXIT_OK);
        feed_close(&feed);
        world_destroy(&r.world);
        return status;
}

/* Reads the runs of the targets from the archive. */
static bool read_archived(struct request *r, struct error *error)
{
        uint64_t now = clock_wall_ns(), from = now > r->since_ns ? now - r->since_ns : 0;
        struct archived_runs runs = { .n = 0 };
        struct database d = { .lock = -1 };
        char path[PATH_MAX];
        bool good = r->db || database_default_path(path, sizeof(path)) ||
                    error_set(error, "there is no home directory with an archive; give --db FILE");

        good = good && database_open_to_read(&d, r->db ? r->db : path, error);
        for (size_t i = 0; good && i < r->from.targets.n; i++) {
                size_t before = runs.n;
                good = select_between(&d, r->from.targets.items[i], from, now, &runs, error);
                if (good && runs.n == before)
                        good = error_set(error, "%s has no run of %s in that time", d.path, r->from.targets.items[i]);
        }
        good = good && run_events_read(&r->archived, &d, &runs, error);
        r->from.targets.n = 0; /* names of runs that were set aside have a number */
        if (!r->from.judging.resolution &&
            !r->from.judging.leak_after) /* as a live run is judged, where minutes are kept */
                r->from.judging.resolution = r->archived.by_hour ? "1h" : "1m";
        archived_runs_done(&runs);
        database_close(&d);
        return good;
}

static int run_trend(void *filled)
{
        struct request *r = filled;
        struct error error;
        int status = EXIT_USAGE;

        if (!r->since_ns || read_archived(r, &error))
                status = show_targets(r);
        else
                command_error(&command_trend, "%s", error.text);
        run_events_done(&r->archived);
        return status;
}

const struct command command_trend = {
        .name = "trend",
        .summary = "does it leak, where, since when, until when",
        .usage = TEXTS("[TARGET]... [--connect EP]... [OPTION]...", "FILE... [OPTION]...",
                       "TARGET... --since TIME [--db FILE] [OPTION]..."),
        .about =
                "Without a name, a line for each target of the daemon, the worst first: one word (steady, so far where "
                "there is no verdict yet; rising, growing, leak; how it ended, if badly) and what is known. "
                "For a target with its name, all of them with --all, or each run in finished eventlogs: whether memory "
                "leaks, where it grows, since when, and when it reaches the limit; then a row for each series and for "
                "the bands of the heap "
                "profile: verdict (unknown, steady, growing, leak), size now, robust slope with its interval, what it "
                "gained at least over the window that decided, the length of that window, and the time in the run at "
                "which growth began. docs/VERDICT.md explains how a verdict is reached. An argument that names a file "
                "is one.",
        .options = options,
        .status = "0, 1 as --fail-on says, 2 when there is nothing to read, or one of several daemons does not answer.",
        .examples = TEXTS("heapwatch trend", "heapwatch trend api-1", "heapwatch trend api-1 --since 30d",
                          "heapwatch trend run.eventlog --resolution 1s --fail-on leak",
                          "heapwatch trend --format json run.eventlog | jq .trends.growth.where"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .show = { .bands = 10 }, .fails = -1 },
        .check = check_request,
        .run = run_trend,
        .stops = true,
        .offline = true,
};
