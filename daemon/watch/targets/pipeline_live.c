/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_live.c - what drives a live target: its source, its process, and the timer that sends what came since the
 * last message (pipeline_state.c).
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>

#include "proto/base/agent_peer.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/source/procfs.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "heapwatch/text.h"
#include "proto/base/error.h"

#define GONE_AFTER_NS   UINT64_C(900000000) /* process gone at two looks, a second apart, and no bytes since: over */
#define CLOCK_READ_NS   UINT64_C(10000000)  /* longer, and the two clocks were not read together */
#define SILENT_AFTER_NS UINT64_C(10000000000)
#define UNREAD_NS       UINT64_C(15000000000) /* for an agent to be there again, on a busy machine, too */

static void on_flush_timer(evutil_socket_t fd, short what, void *ctx)
{
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

/* After each turn. */
static void finish_turn(struct pipeline *p, bool all)
{
        /* A heartbeat is too late for a log that fills the budget within a second. */
        if (memory_is_due(p->piece.size))
                memory_update_usage(procfs_own_rss(), p->last_bytes_mono_ns);
        if (memory_now() != MEMORY_PLENTY)
                pipeline_close_bands(p, memory_closes(pipeline_held_bytes(p)));
        if (all)
                p->piece = (struct read_piece){ .buffer = NULL };
        if (p->alerting)
                alerting_bytes(p->alerting, p->state.last_bytes_wall_ns);
        schedule_flush(p);
}

void pipeline_check_clock(struct pipeline *p)
{
        const uint64_t before_ns = clock_mono_ns(), wall_ns = clock_wall_ns(), after_ns = clock_mono_ns();
        const int64_t offset_ns = (int64_t)(wall_ns - after_ns), step_ns = offset_ns - p->state.clock_offset_ns;
        const bool known = p->state.clock_offset_ns != 0;
        char note[128], by[HW_NUMBER_MAX];

        if (after_ns - before_ns > CLOCK_READ_NS)
                return;
        p->state.clock_offset_ns = offset_ns;
        if (!known || (step_ns < (int64_t)CLOCK_STEP_NS && step_ns > -(int64_t)CLOCK_STEP_NS))
                return;
        log_info("target=%s clock_step_ns=%" PRId64, p->name, step_ns);
        if (p->state.last_bytes_wall_ns != UNKNOWN_U64)
                p->state.last_bytes_wall_ns += (uint64_t)step_ns;
        p->state.state_since_wall_ns += (uint64_t)step_ns;
        if (p->alerting)
                alerting_step_clock(p->alerting, step_ns);
        if (!pipeline_in_run(p) && !life_is_lost(p->state.life))
                return;
        (void)hw_duration_text(by, sizeof(by), step_ns < 0 ? -(double)step_ns : (double)step_ns);
        (void)snprintf(note, sizeof(note), "heapwatch: the clock was set %s by %s%s: times follow the new one",
                       step_ns < 0 ? "back" : "forward", by, step_ns < 0 ? "" : ", or the machine slept");
        model_step_clock(p->model, step_ns, note);
}

bool pipeline_process_bytes(void *pipeline, const struct read_piece *piece)
{
        struct pipeline *p = pipeline;

        watchdog_of(p->name);
        pipeline_check_clock(p);
        const uint64_t now_ns = clock_mono_ns();

        if (pipeline_in_run(p) && now_ns - p->last_bytes_mono_ns > p->state.longest_wait_ns)
                p->state.longest_wait_ns = now_ns - p->last_bytes_mono_ns;
        p->state.last_bytes_wall_ns = clock_wall_ns();
        p->last_bytes_mono_ns = now_ns;
        (void)pipeline_happens(p, ON_BYTES, NULL);
        publisher_set_clock(p->publisher, p->state.last_bytes_wall_ns);
        p->piece = *piece;
        const bool all = pipeline_decode(p, piece->data, piece->size);
        finish_turn(p, all);
        return all;
}

bool pipeline_process_pending(void *pipeline)
{
        struct pipeline *p = pipeline;

        watchdog_of(p->name);
        const bool all = pipeline_resume(p);
        finish_turn(p, all);
        return all;
}

static void on_cut(void *ctx, const char *why)
{
        pipeline_finish_stream(ctx, why);
}

void pipeline_source_state(void *pipeline, enum source_state state, const char *why)
{
        struct pipeline *p = pipeline;

        if (p->open)
                p->shut_mono_ns = clock_mono_ns();
        p->open = state == SOURCE_OPEN;
        switch (state) {
        case SOURCE_WAITING:
                (void)pipeline_happens(p, ON_SOURCE_GONE, why);
                break;
        case SOURCE_OPEN:
                (void)pipeline_happens(p, ON_SOURCE_OPEN, why);
                break;
        case SOURCE_ENDED:
                if (pipeline_is_process(p))
                        pipeline_process_ended(p, why);
                else
                        pipeline_finish_stream(p, why);
                break;
        case SOURCE_FAILED:
                (void)pipeline_happens(p, ON_SOURCE_REFUSED, why);
                break;
        }
}

static struct source *open_source(struct pipeline *p, struct event_base *base, const struct source_uri *uri,
                                  struct error *error)
{
        struct source_sink sink = {
                .ctx = p,
                .bytes = pipeline_process_bytes,
                .more = pipeline_process_pending,
                .process = pipeline_process_found,
                .cut = on_cut,
                .state = pipeline_source_state,
        };

        return source_open(base, uri, &sink, &p->state.position, error);
}

int pipeline_start_source(struct pipeline *p, struct event_base *base, struct error *error)
{
        if (p->uri.kind != SOURCE_FILE) /* a file has its header */
                hw_eventlog_allow_join(p->decoder);
        p->flush_timer = evtimer_new(base, on_flush_timer, p);
        if (!p->flush_timer) {
                return error_code(error, -ENOMEM, "out of memory");
        }
        p->state.position.inside = pipeline_in_run(p);
        p->source = open_source(p, base, &p->uri, error);
        return p->source ? 0 : -EINVAL;
}

/*
 * A program may close the agent's descriptors for good, remove its directory, or forbid its calls. Where its agent
 * cannot be reached, and its process is there, that is read from outside: as another run, of the same target. Not if
 * its log was ended: whoever did that can begin it again, by the same agent.
 */
static void check_agent(struct pipeline *p)
{
        const struct run *run = model_run(p->model);
        const bool lost = (life_is_lost(p->state.life) && !p->marked) || (pipeline_in_run(p) && !p->open);
        const uint64_t now_ns = clock_mono_ns();

        if (!lost || p->state.kept || pipeline_is_busy(p) || !agent_peer_is_uri(p->uri.text) ||
            !process_watch_alive(&p->state.process, run_process(run), run->start_wall_ns)) {
                p->unread_mono_ns = 0;
        } else if (p->unread_mono_ns == 0) {
                p->unread_mono_ns = now_ns;
        } else if (now_ns - p->unread_mono_ns >= UNREAD_NS) {
                p->unread_mono_ns = 0;
                /* From its agent to its process, and back where that cannot be read either. It keeps its URI. */
                struct source_uri process;
                struct error error;
                char text[32];

                (void)snprintf(text, sizeof(text), "outside:%" PRIu32, p->state.process.pid);
                if (!source_uri_parse(text, &process, &error))
                        return;
                source_uri_set_start(&process, p->state.process.start_ticks);
                struct source *next =
                        open_source(p, event_get_base(p->flush_timer), p->outside ? &p->uri : &process, &error);
                if (!next) {
                        log_warning("target=%s source=%s %s", p->name, p->outside ? p->uri.text : text, error.text);
                        return;
                }
                if (pipeline_in_run(p))
                        pipeline_finish_stream(p, "its agent cannot be reached any more");
                source_close(&p->source);
                p->source = next;
                p->outside = !p->outside;
                p->open = false;
                p->shut_mono_ns = clock_mono_ns();
                log_info("target=%s source=%s", p->name, p->outside ? text : p->uri.text);
        }
}

/* --------------------------------------------------------------- process */

/* After a daemon's own stop the first look comes before what the process wrote until it ended is read. */
static void process_gone(struct pipeline *p)
{
        const uint64_t now_ns = clock_mono_ns();

        if (p->gone_mono_ns == 0 || p->last_bytes_mono_ns > p->gone_mono_ns)
                p->gone_mono_ns = now_ns;
        else if (!pipeline_is_busy(p) && now_ns - p->gone_mono_ns >= GONE_AFTER_NS)
                pipeline_finish_stream(p, "its log stopped");
}

static const char *explain_silence(const struct pipeline *p)
{
        const uint64_t cpu_ns = alerting_cpu_since_bytes(p->alerting);

        if (!p->state.process.seen)
                return "nothing has come from it for longer than before; whether it is idle, does not flush its log or "
                       "is gone is not known";
        if (cpu_ns != UNKNOWN_U64 && cpu_ns > NS_PER_S)
                return "its process computes, and nothing has come from it for longer than before: a loop that does "
                       "not allocate holds up its collections and its log, or it does not flush its log";
        return "its process is there, and nothing has come from it for longer than before: it is idle, or does not "
               "flush its log";
}

/* A stream that was never silent for so long: the program is idle, does not flush its log, or is not there any more. */
static void check_silence(struct pipeline *p)
{
        const uint64_t silent_ns = clock_mono_ns() - p->last_bytes_mono_ns;

        if (pipeline_is_process(p))
                return; /* it has no stream */
        if (!pipeline_is_busy(p) && p->open && silent_ns > SILENT_AFTER_NS && silent_ns / 2 > p->state.longest_wait_ns)
                (void)pipeline_happens(p, ON_SILENCE, explain_silence(p));
}

bool pipeline_send(struct pipeline *p, const void *bytes, size_t n, struct error *error)
{
        if (agent_peer_is_uri(p->uri.text))
                return error_set(error, "%s has heapwatch's agent, which takes other requests: `heapwatch ctl agent`",
                                 p->name);
        if (!p->source)
                return error_set(error, "nothing is read of %s any more", p->name);
        return source_send(p->source, bytes, n, error);
}

/* In a container the program does not know its number here; the kernel does, of whoever serves its log. */
static void find_host_pid(struct pipeline *p)
{
        const struct run *run = model_run(p->model);
        const uint32_t peer = p->source ? source_peer(p->source) : 0;

        if (peer && run->pid && peer != run->pid && run->host_pid != peer && procfs_pid_inside("", peer) == run->pid)
                model_set_host_pid(p->model, peer);
}

/*
 * A log that says it began before its process did, or is from the future, was written by a clock that is wrong, was set
 * since, or is made up (libfaketime): its newest event is of now. Once in a run: such a clock may have its own pace.
 */
static void check_own_clock(struct pipeline *p, uint64_t wall_ns)
{
        const struct run *run = model_run(p->model);
        const uint64_t newest_ns = model_wall_time(p->model, model_time_ns(p->model));
        char note[128], by[HW_NUMBER_MAX];

        if (run->clock_step_ns != 0 || newest_ns == UNKNOWN_U64)
                return;
        const bool is_fast = newest_ns > wall_ns + CLOCK_STEP_NS;
        if (!is_fast && sub_sat(wall_ns, newest_ns) <= PROCFS_START_SLACK_NS)
                return;
        const uint64_t process_ns = is_fast ? 0 : procfs_start_wall_ns(p->state.process.root, p->state.process.pid);
        if (!is_fast && (process_ns == UNKNOWN_U64 || run->start_wall_ns + PROCFS_START_SLACK_NS >= process_ns))
                return;
        (void)hw_duration_text(by, sizeof(by), (double)sub_abs(wall_ns, newest_ns));
        (void)snprintf(note, sizeof(note), "heapwatch: the clock of its log is %s by %s: times follow this machine's",
                       is_fast ? "fast" : "slow", by);
        model_step_clock(p->model, (int64_t)(wall_ns - newest_ns), note);
}

/*
 * Reported from the second look on: heapwatch itself stops a process for moments, to read it. Nothing is judged while
 * it lasts; the publisher keeps verdicts, rates and countdowns back.
 */
static void check_stop(struct pipeline *p, const struct process_sample *sample, bool first_look)
{
        static const char *const by[] = { [PROCESS_STOPPED] = "SIGSTOP or Ctrl-Z",
                                          [PROCESS_TRACED] = "a debugger or another tracer holds it",
                                          [PROCESS_FROZEN] = "its control group is frozen" };
        const uint64_t now_ns = clock_mono_ns();
        char detail[128], length[HW_NUMBER_MAX];

        if (sample->stop == PROCESS_NOT_STOPPED) {
                p->stopped_mono_ns = 0;
                (void)pipeline_happens(p, ON_CONTINUE, NULL);
                return;
        }
        if (p->stopped_mono_ns == 0) {
                p->stopped_mono_ns = now_ns;
                p->stopped_before = first_look;
                return;
        }
        (void)snprintf(detail, sizeof(detail), "stopped for %s%s (%s)", p->stopped_before ? "at least " : "",
                       hw_duration_text(length, sizeof(length), (double)(now_ns - p->stopped_mono_ns)),
                       by[sample->stop]);
        (void)pipeline_happens(p, ON_STOP, detail);
        if (p->state.life == LIFE_STOPPED)
                (void)snprintf(p->state.detail, sizeof(p->state.detail), "%s",
                               detail); /* each heartbeat publishes it */
}

void pipeline_poll_process(struct pipeline *p, uint64_t wall_ns)
{
        const struct run *run = model_run(p->model);
        const bool first_look = !p->state.process.seen;
        struct process_sample sample;

        pipeline_check_clock(p);
        pipeline_check_runner(p);
        pipeline_check_lost(p, wall_ns);
        check_agent(p);
        check_silence(p);
        find_host_pid(p);
        if (pipeline_in_run(p) && tracker_limit(p->tracker).bytes != p->recorded_limit_bytes) {
                p->recorded_limit_bytes = tracker_limit(p->tracker).bytes;
                pipeline_record_end(p);
        }
        if (!pipeline_in_run(p) || run->pid == 0 || run->start_wall_ns == UNKNOWN_U64 || !source_is_local(p->source))
                return;
        switch (process_watch_poll(&p->state.process, run_process(run), run->start_wall_ns, wall_ns, &sample)) {
        case PROCESS_NEVER_SEEN:
                return;
        case PROCESS_GONE:
                if (!pipeline_has_no_log(p)) /* its source says so itself */
                        process_gone(p);
                return;
        case PROCESS_OPAQUE:
                p->gone_mono_ns = 0;
                return;
        case PROCESS_ALIVE:
                break;
        }
        if (!pipeline_is_process(p) && process_watch_executed(&p->state.process)) {
                process_gone(p); /* what is of the other program is not of its run */
                return;
        }
        p->gone_mono_ns = 0;
        tracker_set_local(p->tracker, true);
        check_own_clock(p, wall_ns);
        check_stop(p, &sample, first_look);
        uint64_t time_ns = model_event_time(p->model, wall_ns);
        if (time_ns != UNKNOWN_U64)
                model_process(p->model, time_ns, &sample);
        if (time_ns != UNKNOWN_U64 && pipeline_is_process(p))
                pipeline_process_sampled(p, time_ns);
        schedule_flush(p);
}
