/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch post-mortem`: how a program ended and what its memory
 * did before, on one screen; from a daemon that kept it, a log or a recording.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/feed/feed.h"
#include "client/post_mortem/account.h"
#include "proto/base/error.h"
#include "proto/recording/stretch.h"

#define WAIT_MS 5000 /* for a daemon's snapshot */

struct request {
        const char *what;
        struct text_list endpoints, daemon_args;
        bool json;
};

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET|FILE", const char *, 1, 1, struct request, what, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json, "text (default), or an object a run"),
        OPTION_CONNECT(struct request, endpoints),
        OPTIONS_OF_TREND(struct request, daemon_args),
        OPTIONS_END,
};

static bool is_file(const char *what)
{
        struct stat st;

        return strchr(what, '/') || stretch_is(what) || stat(what, &st) == 0;
}

static struct feed *open_feed(const struct request *r, struct error *error)
{
        struct hw_subscriber_options o = {
                .endpoints = r->endpoints.n ? r->endpoints.items : NULL,
                .n_endpoints = r->endpoints.n,
                .targets = &r->what,
                .n_targets = 1,
        };

        return is_file(r->what) ? feed_files(&r->what, 1, r->daemon_args.items, error) : feed_connect(&o, error);
}

/* Until all is there. False after reporting what went wrong. */
static bool read_all(struct world *world, struct feed *feed)
{
        const Hw__Update *update = NULL;
        char text[ABSENT_TEXT];

        while (!signals_stop()) {
                switch (feed_next(feed, feed_is_live(feed) ? WAIT_MS : 500, &update)) {
                case FEED_UPDATE:
                        if (world_apply(world, feed_daemon(feed), update) == 0)
                                break;
                        command_error(&command_post_mortem, "out of memory");
                        return false;
                case FEED_RESET:
                        world_reset(world, feed_daemon(feed));
                        break;
                case FEED_READY:
                case FEED_END:
                        return true;
                case FEED_NOTHING:
                        if (!feed_is_live(feed))
                                break;
                        command_error(&command_post_mortem, "%s",
                                      absent_daemon(text, sizeof(text), feed_endpoint(feed, 0)));
                        return false;
                case FEED_FAILED:
                        command_error(&command_post_mortem, "%s", feed_error(feed));
                        return false;
                default:
                        break;
                }
        }
        return false;
}

static int print(const struct request *r, const struct world_target *t, bool live)
{
        if (r->json)
                account_json(stdout, t, live);
        else
                account_text(stdout, t, live);
        return account_end(t) == END_BADLY ? EXIT_FINDING : EXIT_OK;
}

static int show(const struct request *r)
{
        struct world *world = world_new(NULL);
        struct error error = { "out of memory" };
        struct feed *feed = world ? open_feed(r, &error) : NULL;
        int status = EXIT_USAGE;

        if (!feed) {
                command_error(&command_post_mortem, "%s", error.text);
                world_destroy(&world);
                return EXIT_USAGE;
        }
        bool good = read_all(world, feed);
        const struct world_target *t = feed_is_live(feed)     ? world_find(world, r->what)
                                       : world_targets(world) ? world_target(world, 0)
                                                              : NULL;
        if (good && t && t->run)
                status = print(r, t, feed_is_live(feed));
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
        .summary = "how a program ended, and what its memory did before",
        .usage = (const char *const[]){ "TARGET [--connect EP]...", "FILE [OPTION]...", NULL },
        .about = "Says of a target that has ended, or of the last run in a finished eventlog or recording, on one "
                 "screen: how it ended (status, signal, killed for memory, where its parent or the kernel told), its "
                 "memory at the end and the limit, since when it grew and where, the bands that grew most, the last "
                 "notes, collections, and what the stream lost. What is not known is left out.",
        .options = options,
        .status = "0, 1 when it ended badly, 2 when there is nothing to read.",
        .examples =
                (const char *const[]){
                        "heapwatch post-mortem api",
                        "heapwatch post-mortem recording:api@-1",
                        NULL,
                },
        .size = sizeof(struct request),
        .run = run,
};
