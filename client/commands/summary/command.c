/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch summary`: what `+RTS -s` prints, of finished logs and of targets as they are now.
 *
 * DESIGN: messages are applied to a world. When the first message of another run
 * or another log comes, the previous one is complete, so it is printed and its
 * world destroyed: memory does not grow with the number of logs. Of targets the
 * daemon's snapshot is printed once it is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/world/feed/feed.h"
#include "client/world/feed/gather.h"
#include "client/world/feed/selection.h"
#include "client/cli/options.h"
#include "client/cli/progress.h"
#include "client/cli/signals.h"
#include "client/commands/summary/summary.h"
#include "proto/base/error.h"

struct request {
        struct selection from;
        bool json;
};

/* The run being collected; `world` is NULL before the first message. */
struct gathering {
        const struct request *request;
        struct world *world;
        char *target;
        uint32_t run;
        struct summary summary;
        bool any; /* a run was printed */
        struct progress progress;
        uint64_t before_bytes, log_bytes; /* read of earlier logs, and of this one */
};

/* -------------------------------------------------------------- options */

static const struct option options[] = {
        OPERAND_LIST("LOG|TARGET...", 1, struct request, from.operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json,
                    "for people (default), or one object per line for each run, with exact numbers"),
        OPTION_CONNECT(struct request, from.endpoints),
        OPTIONS_END,
};

/* The last state of each run, and censuses for what a band had at most. */
static const struct update_wish wish = { .kinds = WISH(TARGET) | WISH(HEAP) | WISH(GC) | WISH(CENSUS) | WISH(BAND) |
                                                  WISH(NOTE) | WISH(PROFILE) | WISH(TICKY) | WISH(SCHED) |
                                                  WISH(HEALTH) | WISH(TREND),
                                         .no_samples = true,
                                         .ends_alone = true };

static int check_request(void *filled)
{
        struct request *r = filled;

        r->from.wish = wish;
        return selection_check(&command_summary, &r->from);
}

/* --------------------------------------------------------------- output */

static void print_run(struct gathering *g, const struct summary *s)
{
        if (g->request->json) {
                struct json_out j = { .to = stdout };

                json_open(&j, '{');
                for (size_t i = 0; i < summary_n_sections; i++) {
                        const struct summary_section *section = &summary_sections[i];
                        if (section->known && !section->known(s))
                                continue;
                        if (section->key)
                                json_member_open(&j, section->key, '{');
                        section->json(&j, s);
                        if (section->key)
                                json_close(&j, '}');
                }
                json_close(&j, '}');
                (void)fputc('\n', stdout);
        } else {
                if (g->any)
                        (void)fputc('\n', stdout);
                for (size_t i = 0; i < summary_n_sections; i++)
                        if (!summary_sections[i].known || summary_sections[i].known(s))
                                summary_sections[i].text(stdout, s);
        }
        g->any = true;
}

static void print_summary(struct gathering *g, bool last)
{
        struct summary *s = &g->summary;

        progress_end(&g->progress);
        s->t = g->world && g->target ? world_find(g->world, g->target) : NULL;
        s->last = last;
        if (s->t && s->t->run)
                print_run(g, s);
}

/* ------------------------------------------------------------- messages */

static int begin_log(struct gathering *g, const char *target)
{
        print_summary(g, true);
        world_destroy(&g->world);
        free(g->target);
        g->summary = (struct summary){ .t = NULL };
        g->run = 0;
        g->before_bytes += g->log_bytes;
        g->target = strdup(target);
        g->world = world_new(NULL);
        return g->target && g->world ? 0 : -ENOMEM;
}

static int apply_update(void *ctx, size_t daemon, const Hw__Update *u)
{
        struct gathering *g = ctx;
        int r = 0;

        if (u->body_case == HW__UPDATE__BODY_DAEMON || !u->target)
                return 0;
        if (!g->target || strcmp(g->target, u->target))
                r = begin_log(g, u->target);
        if (u->body_case == HW__UPDATE__BODY_HEALTH) {
                g->log_bytes = u->health->bytes;
                progress_show(&g->progress, g->before_bytes + g->log_bytes);
        }
        if (r == 0 && u->has_run && u->run > g->run) {
                print_summary(g, false);
                g->summary = (struct summary){ .t = NULL };
                g->run = u->run;
        }
        if (r)
                return r;
        summary_count(&g->summary, u);
        return world_apply(g->world, daemon, u);
}

/* Of a log that ends in a failure, what came before it is shown. */
static int read_logs(const struct request *r)
{
        struct gathering g = { .request = r };
        const struct gatherer gatherer = { &command_summary, NULL, apply_update, &g, &g.progress };
        struct error error;
        struct feed *feed = selection_open(&r->from, NULL, 0, &error);

        if (!feed)
                return command_error(&command_summary, "%s", error.text);
        progress_begin(&g.progress, command_summary.name, r->from.files.items, r->from.files.n);
        const enum gather_end end = gather(feed, &gatherer);
        if (!signals_stop())
                print_summary(&g, true);
        feed_close(&feed);
        world_destroy(&g.world);
        free(g.target);
        return gather_status(end, EXIT_OK);
}

/* -------------------------------------------------------------- targets */

static int print_targets(struct gathering *g, const struct feed *feed)
{
        int status = EXIT_OK;

        for (size_t i = 0; i < g->request->from.targets.n; i++) {
                const char *name = g->request->from.targets.items[i];
                const struct world_target *t = world_find(g->world, name);

                if (t && t->run) {
                        struct summary s = summary_of_now(t);
                        print_run(g, &s);
                        continue;
                }
                status = EXIT_USAGE;
                if (t)
                        command_error(&command_summary, "%s has no run yet", name);
                else
                        (void)absent_target(&command_summary, feed_endpoint(feed, 0), name);
        }
        return status;
}

static int request_targets(const struct request *r)
{
        struct gathering g = { .request = r, .world = world_new(NULL) };
        struct error error = { "out of memory" };
        struct feed *feed = g.world ? selection_open(&r->from, NULL, 0, &error) : NULL;
        enum gather_end gathered = GATHERED_FAILED;
        int status = EXIT_USAGE;

        if (feed)
                gathered = gather(feed, &(struct gatherer){ .command = &command_summary, .world = g.world });
        else
                command_error(&command_summary, "%s", error.text);
        if (gathered != GATHERED_FAILED)
                status = gather_status(gathered, print_targets(&g, feed));
        feed_close(&feed);
        world_destroy(&g.world);
        return status;
}

static int run_summary(void *filled)
{
        const struct request *r = filled;

        return r->from.targets.n ? request_targets(r) : read_logs(r);
}

const struct command command_summary = {
        .name = "summary",
        .summary = "what +RTS -s prints, for logs and targets, and what else is known",
        .usage = TEXTS("[OPTION]... LOG...", "TARGET... [--connect EP]..."),
        .about = "Prints for each run in finished eventlogs, or for targets up to now, what +RTS -s prints at a "
                 "program's end, as far as the log has it: bytes allocated and copied, maximum residency, collections "
                 "and pauses of each generation, "
                 "mutator and GC time, productivity; then the heap profile's mode and largest bands, the time "
                 "profile, notes, threads, and what of the log was lost. What the log does not have is left out.",
        .options = options,
        .notes = "Times are elapsed times: CPU times are not in an eventlog. MUT time is all time outside "
                 "collections, so it includes what +RTS -s calls INIT and EXIT; a pause includes the heap census taken "
                 "in it. A log that was joined late has only what came since then.",
        .status =
                "0, or 2 when a log could not be read, a daemon does not answer or there is no such target; the others "
                "are still printed.",
        .examples = TEXTS("heapwatch summary run.eventlog", "heapwatch summary api-1",
                          "heapwatch summary --format json */run.eventlog | jq '.memory.maxResidencyBytes'"),
        .size = sizeof(struct request),
        .check = check_request,
        .run = run_summary,
        .stops = true,
        .offline = true,
};
