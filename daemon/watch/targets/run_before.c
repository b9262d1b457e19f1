/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_before.c - the previous run, when another one begins in its source: it is kept as a target of its own.
 *
 * DESIGN: nothing is copied. Model and tracker of the run move to a new pipeline, which has neither source nor decoder;
 * the old pipeline gets empty ones. Alerts stay with the old pipeline: rules of the target span runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/record/recording.h"
#include "daemon/watch/targets/pipeline_internal.h"

static bool has_seen_any(const struct pipeline *p)
{
        return p->state.runs > 0 && !pipeline_in_run(p) && model_first_time_ns(p->model) != UNKNOWN_U64;
}

/* A pipeline with what is known about the run beyond its model. */
static struct pipeline *beside(const struct pipeline *p, const char *name)
{
        struct pipeline *left = calloc(1, sizeof(*left));

        if (!left)
                return NULL;
        (void)snprintf(left->name, sizeof(left->name), "%s", name);
        left->uri = p->uri;
        left->show_arguments = p->show_arguments;
        left->state = p->state;
        left->live = left->state.kept = true;
        if (p->outside) {
                /* Its process goes on in the next run, which is told how that ends. */
                process_watch_begin(&left->state.process, 0, 0);
                (void)snprintf(left->state.detail, sizeof(left->state.detail), "%s",
                               "its agent cannot be reached any more: it goes on in the next run, read from outside");
        }
        left->state.left_stats = *hw_eventlog_stats(p->decoder);
        memcpy(left->process_only_reason, p->process_only_reason, sizeof(left->process_only_reason));
        left->labels = p->labels ? strdup(p->labels) : NULL;
        left->publisher = publisher_new_of_run(p->publisher, name);
        left->recording = p->recording ? recording_leave(p->recording) : NULL;
        if (!left->publisher || (p->labels && !left->labels) || (p->recording && !left->recording))
                pipeline_destroy(&left);
        return left;
}

struct pipeline *pipeline_leave_run(struct pipeline *p, const char *name)
{
        struct pipeline *left = has_seen_any(p) ? beside(p, name) : NULL;
        struct tracker *tracker = tracker_new(tracker_config_of(p->tracker));
        struct model *model = model_new(NULL);

        if (!left || !tracker || !model) {
                pipeline_destroy(&left);
                tracker_destroy(&tracker);
                model_destroy(&model);
                return NULL;
        }
        if (p->alerting)
                alerting_watch(p->alerting, model, tracker);
        left->model = p->model;
        left->tracker = p->tracker;
        p->model = model;
        p->tracker = tracker;
        pipeline_wire(left);
        pipeline_wire(p);
        pipeline_publish_state(left);
        return left;
}
