/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/feed/gather.h"

#include "client/cli/absent.h"
#include "client/cli/signals.h"

#define SNAPSHOT_MS 5000 /* for a daemon's snapshot */
#define FILES_MS    500  /* between two checks for a signal */

/* The daemon of the last event. */
static void say_absent(const struct feed *feed, const struct gatherer *g)
{
        char text[ABSENT_TEXT];

        command_error(g->command, "%s", absent_daemon(text, sizeof(text), feed_endpoint(feed, feed_daemon(feed))));
}

bool gather(struct feed *feed, const struct gatherer *g)
{
        const Hw__Update *update = NULL;

        while (!signals_stop()) {
                switch (feed_next(feed, feed_is_live(feed) ? SNAPSHOT_MS : FILES_MS, &update)) {
                case FEED_UPDATE:
                        if (g->take(g->ctx, feed_daemon(feed), update) == 0)
                                break;
                        command_error(g->command, "out of memory");
                        return false;
                case FEED_RESET:
                        g->reset(g->ctx, feed_daemon(feed));
                        break;
                case FEED_STALE:
                        if (feed_daemons(feed) > 1)
                                say_absent(feed, g);
                        if (feed_complete(feed))
                                return true;
                        break;
                case FEED_READY:
                        if (feed_complete(feed))
                                return true;
                        break;
                case FEED_END:
                        return true;
                case FEED_NOTHING:
                        if (!feed_is_live(feed))
                                break;
                        if (feed_daemons(feed) == 1)
                                say_absent(feed, g);
                        return false; /* of several each was named when it was silent for long */
                case FEED_FAILED:
                        command_error(g->command, "%s", feed_error(feed));
                        return false;
                default:
                        break;
                }
        }
        return false;
}
