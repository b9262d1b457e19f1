/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/convert/reader.h"

#include <errno.h>

#include "client/cli/progress.h"
#include "client/cli/signals.h"
#include "client/feed/feed.h"
#include "proto/base/error.h"

/* Passes on updates of the run. Other runs are only counted. */
static int take(struct run_reader *r, struct progress *progress, const Hw__Update *u)
{
        if (u->has_run && u->run > r->runs_seen)
                r->runs_seen = u->run;
        if (u->body_case == HW__UPDATE__BODY_HEALTH)
                progress_show(progress, u->health->bytes);
        if (!u->has_run || u->run != r->run || !u->target)
                return 0;
        int e = u->body_case == HW__UPDATE__BODY_EVENTS ? 0 : world_apply(r->world, 0, u);
        r->seen.t = world_find(r->world, u->target);
        if (e || !r->seen.t) /* events come first, when nothing is known of the run yet */
                return e;
        return r->take(r->state, &r->seen, u);
}

static int read_feed(struct run_reader *r, struct feed *feed)
{
        struct progress progress;
        const Hw__Update *update;
        enum feed_event event = FEED_NOTHING;
        int status = 0;

        progress_begin(&progress, r->command->name, &r->log, 1);
        while (status == 0 && event != FEED_END && event != FEED_FAILED) {
                event = feed_next(feed, 500, &update);
                if (event == FEED_UPDATE)
                        status = take(r, &progress, update);
                if (signals_stop())
                        status = -EINTR;
                else if (status == 0 && r->out && ferror(r->out))
                        status = errno ? -errno : -EIO;
        }
        progress_end(&progress);
        if (event == FEED_FAILED)
                command_error(r->command, "%s", feed_error(feed));
        return status == 0 && event == FEED_FAILED ? 1 : status;
}

int run_reader_read(struct run_reader *r)
{
        struct error error;

        r->world = world_new(NULL);
        if (!r->world)
                return -ENOMEM;
        r->seen.world = r->world;
        struct feed *feed =
                r->events ? feed_events(r->log, false, false, &error) : feed_files(&r->log, 1, NULL, &error);
        if (!feed) {
                command_error(r->command, "%s", error.text);
                return 1;
        }
        int status = read_feed(r, feed);
        feed_close(&feed);
        return status;
}

void run_reader_done(struct run_reader *r)
{
        world_destroy(&r->world);
        r->seen = (struct format_run){ .t = NULL };
}
