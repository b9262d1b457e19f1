/* SPDX-License-Identifier: BSD-3-Clause */
/* next_alert.c - what to do next: what a lost connection, a rule that fires, a damaged log ask for. */
#include "client/answers/advice.h"

#include <string.h>

#include "heapwatch/text.h"

CONDITION(connection_lost, e->ending == LOST)

/* Before a verdict names what grows; the agent and the alert's own `why` may have found it by now. */
CONDITION(runs_out, !e->over && !e->grows && e->early && early_runs_out(e->early))

static void append_runs_out(char *text, const struct evidence *e)
{
        if (e->foreign) {
                append_foreign_advice(text, e);
                return;
        }
        if (e->live)
                append_text(text, "Keep who holds what while it is there: heapwatch heap %s -o %s.heapgraph. ",
                            e->t->name, e->t->name);
        append_text(text, "A higher limit, less load or a planned restart gives time");
}

static bool fires(const struct evidence *e, const char *rule)
{
        return e->alert && e->alert->rule && !strcmp(e->alert->rule, rule);
}

CONDITION(fragmented, fires(e, "fragmentation"))

static bool censuses_cost(const struct evidence *e)
{
        double share;

        return (fires(e, "gc-share") || fires(e, "gc-pauses")) && answers_census_share(e->t, &share) && share > 0.5;
}

static void append_censuses_cost(char *text, const struct evidence *e)
{
        double share = 0;
        char number[HW_NUMBER_MAX];

        (void)answers_census_share(e->t, &share);
        append_text(text, "Take censuses less often: %s of the time in collections is the heap profile's own, at ",
                    hw_share_text(number, sizeof(number), share));
        append_census_period(text, e->t);
}

CONDITION(collects_much, fires(e, "gc-share") || fires(e, "gc-pauses"))

CONDITION(stalled, fires(e, "stream-stalled"))

CONDITION(restarts, fires(e, "restart-loop"))

CONDITION(other_alert, e->alert)

static void append_other_alert(char *text, const struct evidence *e)
{
        if (e->live)
                append_text(text, "Read what the rule says: heapwatch alerts --target %s", e->t->name);
        else
                append_text(text, "Read what the rule says: heapwatch alerts LOG");
}

CONDITION(damaged, e->t->health && e->t->health->has_lost_bytes && e->t->health->lost_bytes)

const struct advice advice_of_alerts[] = {
        { "connection-lost", connection_lost,
          .text = "See whether the program still runs; heapwatch connects again by itself" },
        { "runs-out", runs_out, .append = append_runs_out },
        { "fragmentation", fragmented,
          .text = "The heap holds more than the collector's sizing: look for pinned byte arrays that are kept (copy "
                  "them), see Heap and GC for what is not returned" },
        { "censuses", censuses_cost, .append = append_censuses_cost },
        { "collections", collects_much,
          .text = "Allocate less, or give the nursery more room: +RTS -A64m -n4m; see GC for which generation "
                  "takes the time" },
        { "stalled", stalled,
          .text = "See whether the program runs: an idle one writes nothing, a hung one neither (top, gdb -p)" },
        { "restarts", restarts, .text = "Stop what starts it again and again, and read its last output" },
        { "alert", other_alert, .append = append_other_alert },
        { "damaged", damaged,
          .text = "Part of its log is damaged, numbers may be low: heapwatch doctor LOG says why and which flag to "
                  "change" },
        { .name = NULL },
};
