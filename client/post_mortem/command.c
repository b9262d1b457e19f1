/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch post-mortem`: how a program ended and what its memory
 * did before, on one screen; from a daemon that has kept it, a log or a
 * recording.
 */
#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/feed/gather.h"
#include "client/feed/selection.h"
#include "client/post_mortem/print.h"
#include "client/state/world.h"
#include "proto/base/error.h"

struct request {
        const char *what;
        struct selection from; /* of `what` */
        bool json;
};

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET|FILE", const char *, 1, 1, struct request, what, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json, "text (default), or one object per run"),
        OPTION_CONNECT(struct request, from.endpoints),
        OPTIONS_OF_TREND(struct request, from.judging),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct request *r = filled;

        (void)text_list_add(&command_post_mortem, &r->from.operands, r->what);
        return selection_check(&command_post_mortem, &r->from);
}

static int take(void *world, size_t daemon, const Hw__Update *update)
{
        return world_apply(world, daemon, update);
}

static void reset(void *world, size_t daemon)
{
        world_reset(world, daemon);
}

static int print(const struct request *r, const struct world_target *t, bool live)
{
        struct account a;

        account_of(&a, t, live);
        if (r->json)
                account_json(stdout, &a, t);
        else
                account_text(stdout, &a, t);
        return a.end == END_BADLY ? EXIT_FINDING : EXIT_OK;
}

static int show(const struct request *r)
{
        struct world *world = world_new(NULL);
        struct error error = { "out of memory" };
        struct feed *feed = world ? selection_open(&r->from, NULL, 0, &error) : NULL;
        int status = EXIT_USAGE;

        if (!feed) {
                command_error(&command_post_mortem, "%s", error.text);
                world_destroy(&world);
                return EXIT_USAGE;
        }
        enum gather_end gathered = gather(
                feed,
                &(struct gatherer){ .command = &command_post_mortem, .take = take, .reset = reset, .ctx = world });
        bool good = gathered != GATHERED_FAILED;
        const struct world_target *t = feed_is_live(feed)     ? world_find(world, r->what)
                                       : world_targets(world) ? world_target(world, 0)
                                                              : NULL;
        if (good && t && t->run)
                status = gather_status(gathered, print(r, t, feed_is_live(feed)));
        else if (good && feed_is_live(feed) && !t)
                status = absent_target(&command_post_mortem, feed_endpoint(feed, 0), r->what);
        else if (good)
                command_error(&command_post_mortem, "%s has no run yet", r->what);
        feed_close(&feed);
        world_destroy(&world);
        return status;
}

static int run(void *filled)
{
        signals_catch();
        int status = show(filled);
        signals_die();
        return status;
}

const struct command command_post_mortem = {
        .name = "post-mortem",
        .summary = "how a program ended, and its memory until then",
        .usage = (const char *const[]){ "TARGET [--connect EP]...", "FILE [OPTION]...", NULL },
        .about = "How a target ended, or the last run in a finished eventlog or recording, on one screen: exit status, "
                 "signal or killed for memory, as far as its parent or the kernel says; its memory at the end and the "
                 "limit, since when it grew and where, the bands that grew most, the last "
                 "notes and pauses, and what the stream lost. What is unknown is left out.",
        .options = options,
        .status =
                "0, 1 when it ended badly, 2 when there is nothing to read, or one of several daemons does not answer.",
        .examples =
                (const char *const[]){
                        "heapwatch post-mortem api",
                        "heapwatch post-mortem recording:api@-1",
                        NULL,
                },
        .size = sizeof(struct request),
        .check = check,
        .run = run,
};
