/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_live.c - what drives a live target: its source, its process, and the timer that sends what came since the
 * last message (publish_pace.h).
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>

#include "proto/base/clock.h"
#include "daemon/loop/memory.h"
#include "daemon/loop/watchdog.h"
#include "daemon/source/procfs.h"
#include "daemon/target/pipeline_internal.h"
#include "daemon/target/rebuild.h"
#include "proto/base/error.h"

#define GONE_AFTER_NS 1000000000u /* process gone and no bytes for 1 s: the run is over */

static void on_flush_timer(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        pipeline_flush(ctx);
}

static void schedule_flush(struct pipeline *p)
{
        if (!publisher_pending(p->publisher) && !publisher_run_changed(p->publisher))
                return;
        if (evtimer_pending(p->flush_timer, NULL))
                return;
        uint64_t wait_us = publish_pace_wait_ns(&p->pace, clock_mono_ns()) / 1000;
        struct timeval wait = { .tv_sec = (time_t)(wait_us / 1000000), .tv_usec = (suseconds_t)(wait_us % 1000000) };
        if (wait_us == 0 || evtimer_add(p->flush_timer, &wait) != 0)
                pipeline_flush(p);
}

/* A heartbeat is too late for a log that fills the budget within a second. */
static void mind_memory(struct pipeline *p, size_t size)
{
        if (memory_is_due(size))
                memory_look(procfs_own_rss(), p->last_bytes_mono_ns);
        if (memory_now() != MEMORY_PLENTY)
                pipeline_close_bands(p, memory_closes(pipeline_held_bytes(p)));
}

/* After each turn. */
static void took(struct pipeline *p, bool all)
{
        mind_memory(p, p->piece.size);
        if (all)
                p->piece = (struct read_piece){ .buffer = NULL };
        if (p->alerting)
                alerting_bytes(p->alerting, p->last_bytes_wall_ns);
        schedule_flush(p);
}

bool pipeline_take_bytes(struct pipeline *p, const struct read_piece *piece)
{
        watchdog_of(p->name);
        p->last_bytes_wall_ns = clock_wall_ns();
        p->last_bytes_mono_ns = clock_mono_ns();
        publisher_set_clock(p->publisher, p->last_bytes_wall_ns);
        p->piece = *piece;
        const bool all = pipeline_decode(p, piece->data, piece->size);
        took(p, all);
        return all;
}

bool pipeline_take_more(struct pipeline *p)
{
        watchdog_of(p->name);
        const bool all = pipeline_go_on(p);
        took(p, all);
        return all;
}

static bool on_bytes(void *ctx, const struct read_piece *piece)
{
        struct pipeline *p = ctx;

        if (!p->rebuild)
                return pipeline_take_bytes(p, piece);
        rebuild_bytes(p->rebuild, piece);
        return true;
}

static bool on_more(void *ctx)
{
        return pipeline_take_more(ctx);
}

static void on_cut(void *ctx, const char *why)
{
        struct pipeline *p = ctx;

        if (p->rebuild)
                rebuild_cut(p->rebuild, why);
        else
                pipeline_finish_stream(p, why);
}

static void on_process(void *ctx, const struct process_identity *process)
{
        pipeline_process_found(ctx, process);
}

static bool has_ended(const struct pipeline *p)
{
        return p->state == HW__TARGET__STATE__STATE_ENDED || p->state == HW__TARGET__STATE__STATE_CRASHED ||
               p->state == HW__TARGET__STATE__STATE_LOST;
}

void pipeline_source_state(struct pipeline *p, enum source_state state, const char *why)
{
        if (p->open)
                p->shut_mono_ns = clock_mono_ns();
        p->open = state == SOURCE_OPEN;
        p->was_open |= p->open;
        switch (state) {
        case SOURCE_WAITING:
                /* How the last run ended is more informative than that the source is gone. */
                if (!has_ended(p))
                        pipeline_set_state(p, HW__TARGET__STATE__STATE_WAITING, why);
                break;
        case SOURCE_OPEN:
                /* The same for a file opened after a restart of the daemon, until another run begins in it. */
                if (!p->in_run && !(p->uri.kind == SOURCE_FILE && has_ended(p)))
                        pipeline_set_state(p, HW__TARGET__STATE__STATE_CONNECTED, why);
                break;
        case SOURCE_ENDED:
                if (pipeline_is_process(p))
                        pipeline_process_ended(p, why);
                else
                        pipeline_finish_stream(p, why);
                break;
        case SOURCE_FAILED:
                if (!p->in_run)
                        pipeline_set_state(p, HW__TARGET__STATE__STATE_FAILED, why);
                break;
        }
}

static void on_source_state(void *ctx, enum source_state state, const char *why)
{
        struct pipeline *p = ctx;

        if (p->rebuild)
                rebuild_source_state(p->rebuild, state, why);
        else
                pipeline_source_state(p, state, why);
}

int pipeline_start_source(struct pipeline *p, struct event_base *base, struct error *error)
{
        struct source_sink sink = {
                .ctx = p,
                .bytes = on_bytes,
                .more = on_more,
                .process = on_process,
                .cut = on_cut,
                .state = on_source_state,
        };

        if (p->uri.kind != SOURCE_FILE) /* a file has its header */
                hw_eventlog_allow_join(p->decoder);
        p->flush_timer = evtimer_new(base, on_flush_timer, p);
        if (!p->flush_timer) {
                return error_code(error, -ENOMEM, "out of memory");
        }
        p->source = source_open(base, &p->uri, &sink, &p->position, error);
        return p->source ? 0 : -EINVAL;
}

/* --------------------------------------------------------------- process */

static void process_gone(struct pipeline *p, uint32_t pid)
{
        char why[96];

        if (pipeline_is_busy(p) || clock_mono_ns() - p->last_bytes_mono_ns < GONE_AFTER_NS)
                return;
        snprintf(why, sizeof(why), "process %" PRIu32 " is gone and its log stopped", pid);
        pipeline_finish_stream(p, why);
}

void pipeline_look_at_process(struct pipeline *p, uint64_t wall_ns)
{
        const struct run *run = model_run(p->model);
        struct process_sample sample;

        if (p->rebuild)
                return;
        pipeline_look_after_lost(p, wall_ns);
        bool lost = p->state == HW__TARGET__STATE__STATE_LOST && p->process.seen;

        if (!p->in_run && lost && !process_watch_alive(&p->process, run->pid, run->start_wall_ns))
                pipeline_lost_process_gone(p);
        if (!p->in_run || run->pid == 0 || run->start_wall_ns == UNKNOWN_U64 || !source_is_local(p->source))
                return;
        switch (process_watch_look(&p->process, run->pid, run->start_wall_ns, wall_ns, &sample)) {
        case PROCESS_NEVER_SEEN:
                return;
        case PROCESS_GONE:
                if (!pipeline_is_process(p)) /* its source says so itself */
                        process_gone(p, run->pid);
                return;
        case PROCESS_ALIVE:
                break;
        }
        tracker_set_local(p->tracker, true);
        uint64_t time_ns = model_event_time(p->model, wall_ns);
        if (time_ns != UNKNOWN_U64)
                model_process(p->model, time_ns, &sample);
        if (time_ns != UNKNOWN_U64 && pipeline_is_process(p))
                pipeline_process_sampled(p, time_ns);
        schedule_flush(p);
}
