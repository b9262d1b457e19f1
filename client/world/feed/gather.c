/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/feed/gather.h"

#include "client/cli/absent.h"
#include "client/cli/signals.h"

#define FILES_MS 500 /* between two checks for a signal */

/* The daemon of the last event. */
static void report_absent(const struct feed *feed, const struct gatherer *g)
{
        char text[ABSENT_TEXT];

        command_error(g->command, "%s", absent_daemon(text, sizeof(text), feed_endpoint(feed, feed_daemon(feed))));
}

static void end_progress(const struct gatherer *g)
{
        if (g->progress)
                progress_end(g->progress);
}

static enum gather_end gather_all(struct feed *feed, const struct gatherer *g)
{
        enum gather_end whole = GATHERED_ALL;
        const Hw__Update *update = NULL;

        if (feed_is_live(feed) && feed_daemons(feed) == 1 && absent_at_once(feed_endpoint(feed, 0))) {
                report_absent(feed, g);
                return GATHERED_FAILED;
        }
        while (!signals_stop()) {
                switch (feed_next(feed, feed_is_live(feed) ? ABSENT_MS : FILES_MS, &update)) {
                case FEED_UPDATE:
                        if ((g->take ? g->take(g->ctx, feed_daemon(feed), update)
                                     : world_apply(g->world, feed_daemon(feed), update)) == 0)
                                break;
                        end_progress(g);
                        command_error(g->command, "out of memory");
                        return GATHERED_FAILED;
                case FEED_RESET:
                        if (g->world)
                                world_reset(g->world, feed_daemon(feed));
                        break;
                case FEED_STALE:
                        if (feed_daemons(feed) > 1) {
                                report_absent(feed, g);
                                whole = GATHERED_IN_PART;
                        }
                        if (feed_complete(feed))
                                return whole;
                        break;
                case FEED_READY:
                        if (feed_complete(feed))
                                return whole;
                        break;
                case FEED_END:
                        return GATHERED_ALL;
                case FEED_NOTHING:
                        if (!feed_is_live(feed))
                                break;
                        if (feed_daemons(feed) == 1)
                                report_absent(feed, g);
                        return GATHERED_FAILED; /* of several each was named when it was silent for long */
                case FEED_FAILED:
                        end_progress(g);
                        command_error(g->command, "%s", feed_error(feed));
                        return GATHERED_FAILED;
                default:
                        break;
                }
        }
        return GATHERED_FAILED;
}

enum gather_end gather(struct feed *feed, const struct gatherer *g)
{
        const enum gather_end end = gather_all(feed, g);

        end_progress(g);
        return end;
}

int gather_status(enum gather_end end, int status)
{
        return end == GATHERED_ALL ? status : EXIT_USAGE;
}
