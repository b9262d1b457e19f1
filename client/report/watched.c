/* SPDX-License-Identifier: BSD-3-Clause */
/* watched.c - DESIGN: all or nothing, since a report from which a part is missing would look whole. */
#include "client/report/watched.h"

#include "client/cli/absent.h"
#include "client/state/recall.h"

static bool all_there(const struct feed *feed, const struct world *world, const struct text_list *targets)
{
        for (size_t i = 0; i < targets->n; i++) {
                const struct world_target *t = world_find(world, targets->items[i]);

                if (!t)
                        (void)absent_target(&command_report, feed_endpoint(feed, 0), targets->items[i]);
                else if (!t->run)
                        command_error(&command_report, "%s has no run yet", t->name);
                if (!t || !t->run)
                        return false;
        }
        return true;
}

static bool remember(const struct feed *feed, struct world *world)
{
        struct recall *recall = recall_new(feed_requester(feed));
        size_t missing = recall ? recall_all(recall, world) : 0;

        if (!recall)
                command_error(&command_report, "out of memory");
        else if (missing)
                command_error(&command_report,
                              "%zu histories are missing: the daemon is too busy, or a new run began; "
                              "try again",
                              missing);
        bool good = recall && !missing;
        recall_destroy(&recall);
        return good;
}

bool watched_complete(struct feed *feed, struct world *world, const struct text_list *targets)
{
        return all_there(feed, world, targets) && remember(feed, world);
}
