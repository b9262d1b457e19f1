/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the beginning of the new stream is fed to a decoder and a model of its own, which know how identity is
 * written; the result is compared, and both are discarded.
 */
#include "daemon/watch/targets/pipeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/base/ckd.h"

#define START_SLACK_NS  1000000u /* between two computations of one start: clocks are adjusted while programs run */
#define EVENTS_PER_READ 64

struct same_run {
        uint32_t pid; /* of the lost run */
        uint64_t start_wall_ns, newest_ns;
        bool only_new;               /* its source never sends old events again */
        int64_t clock_step_ns;       /* since it began: its log may say its start by either clock */
        struct hw_eventlog *decoder; /* of the new stream's beginning */
        struct model *model;
        uint64_t goes_on_ns; /* of the first event that is no definition; UNKNOWN_U64: none has come */
        uint8_t *held;
        size_t n;
        enum same_run_answer answer;
};

struct same_run *same_run_new(const struct model *lost, bool only_new)
{
        const struct run *run = model_run(lost);
        struct same_run *s;

        if (!run->pid || run->start_wall_ns == UNKNOWN_U64)
                return NULL;
        s = calloc(1, sizeof(*s));
        if (!s)
                return NULL;
        s->pid = run->pid;
        s->start_wall_ns = run->start_wall_ns;
        s->clock_step_ns = run->clock_step_ns;
        s->newest_ns = model_time_ns(lost);
        s->only_new = only_new;
        s->goes_on_ns = UNKNOWN_U64;
        s->decoder = hw_eventlog_new();
        s->model = model_new(NULL);
        if (!s->decoder || !s->model)
                same_run_destroy(&s);
        return s;
}

void same_run_destroy(struct same_run **sp)
{
        struct same_run *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        hw_eventlog_destroy(&s->decoder);
        model_destroy(&s->model);
        free(s->held);
        free(s);
}

/* False when there is no room. */
static bool hold(struct same_run *s, const uint8_t *data, size_t size)
{
        if (!s->held)
                s->held = malloc(SAME_RUN_BYTES);
        if (!s->held || size > SAME_RUN_BYTES - s->n)
                return false;
        memcpy(s->held + s->n, data, size);
        s->n += size;
        return true;
}

static bool same_process(const struct same_run *s)
{
        const struct run *run = model_run(s->model);

        return run->pid == s->pid && run->start_wall_ns != UNKNOWN_U64 &&
               (sub_abs(run->start_wall_ns, s->start_wall_ns) <= START_SLACK_NS ||
                sub_abs(run->start_wall_ns, s->start_wall_ns + (uint64_t)s->clock_step_ns) <= START_SLACK_NS);
}

static enum same_run_answer decide(struct same_run *s, const uint8_t *data, size_t size)
{
        const struct run *run = model_run(s->model);

        hw_eventlog_input(s->decoder, data, size);
        /* Reads from the decoder up to the first event that is no definition. */
        struct hw_event events[EVENTS_PER_READ];
        enum hw_eventlog_status status;
        size_t n;
        do {
                status = hw_eventlog_read(s->decoder, events, EVENTS_PER_READ, &n);
                for (size_t i = 0; i < n && s->goes_on_ns == UNKNOWN_U64; i++)
                        if (model_defines(events[i].id))
                                model_events(s->model, &events[i], 1);
                        else
                                s->goes_on_ns = events[i].time_ns;
        } while (status != HW_EVENTLOG_NEED_MORE);
        if (run->pid && run->start_wall_ns != UNKNOWN_U64 && !same_process(s))
                return SAME_RUN_NO;
        if (same_process(s) && (s->only_new || model_first_time_ns(s->model) >= s->newest_ns))
                return SAME_RUN_YES;
        if (s->goes_on_ns != UNKNOWN_U64)
                return same_process(s) && s->goes_on_ns >= s->newest_ns ? SAME_RUN_YES : SAME_RUN_NO;
        if (hold(s, data, size))
                return SAME_RUN_UNKNOWN;
        return same_process(s) ? SAME_RUN_YES : SAME_RUN_NO;
}

enum same_run_answer same_run_check(struct same_run *s, const uint8_t *data, size_t size)
{
        s->answer = decide(s, data, size);
        return s->answer;
}

bool same_run_continues(const struct same_run *s)
{
        return s->answer == SAME_RUN_YES;
}

const uint8_t *same_run_held(const struct same_run *s, size_t *ret_size)
{
        *ret_size = s->n;
        return s->held;
}

uint64_t same_run_gap_ns(const struct same_run *s)
{
        const uint64_t first_ns = model_first_time_ns(s->model);

        if (s->goes_on_ns == UNKNOWN_U64)
                return first_ns >= s->newest_ns ? sub_sat(first_ns, s->newest_ns) : UNKNOWN_U64;
        return sub_sat(first_ns >= s->newest_ns ? first_ns : s->goes_on_ns, s->newest_ns);
}
