/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_process.c - the run of a process alone, whose program has no log that can be read.
 *
 * DESIGN: the same model, tracker and rules as for a log, fed with the samples of /proc that any local program has
 * (pipeline_live.c). The clock of the daemon is their event time, as time since the start of the process, and each
 * sample settles all of the time before it: so minutes close, and rules are judged, as they do behind the blocks of a
 * log. The run is the life of the process, and is known from when it was found.
 */
#include "daemon/watch/targets/pipeline_internal.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"

#define NOT_KNOWN "only its process is watched: live data, bands and collections are not known"

void pipeline_process_found(void *pipeline, const struct process_identity *process)
{
        struct pipeline *p = pipeline;

        p->state.last_bytes_wall_ns = clock_wall_ns();
        publisher_set_clock(p->publisher, p->state.last_bytes_wall_ns);
        if (pipeline_in_run(p)) {
                /* The daemon was started again: what happened meanwhile is missing. */
                const uint64_t now_ns = model_event_time(p->model, clock_wall_ns());
                if (now_ns != UNKNOWN_U64) {
                        p->state.gaps++;
                        p->state.gap_ns += sub_sat(now_ns, model_time_ns(p->model));
                }
                pipeline_set_state(p, LIFE_RUNNING, NOT_KNOWN);
        } else {
                pipeline_happens_now(p, ON_HEADER, NULL);
                model_set_process(p->model, process);
                pipeline_set_state(p, LIFE_RUNNING, NOT_KNOWN);
        }
        pipeline_poll_process(p, p->state.last_bytes_wall_ns);
        pipeline_publish_state(p);
}

void pipeline_process_sampled(struct pipeline *p, uint64_t time_ns)
{
        p->state.last_bytes_wall_ns = clock_wall_ns();
        p->last_bytes_mono_ns = clock_mono_ns();
        publisher_set_clock(p->publisher, p->state.last_bytes_wall_ns);
        if (!tracker_resume(p->tracker))
                return; /* rules of earlier moments first */
        model_pass_time(p->model, time_ns);
        if (p->alerting)
                alerting_bytes(p->alerting, p->state.last_bytes_wall_ns);
}

void pipeline_process_ended(struct pipeline *p, const char *why)
{
        char detail[sizeof(p->state.detail)];

        if (pipeline_in_run(p)) {
                const enum life_event end = pipeline_judge_end(p, false, why, detail, sizeof(detail));
                pipeline_happens_now(p, end, detail);
        } else {
                (void)pipeline_happens(p, ON_SOURCE_REFUSED, why);
        }
}
