/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_end.c - how a run ended, and what is kept of a target whose source
 * is gone for good.
 *
 * DESIGN: there are three sources about an end. The log has an end marker, or
 * none. The parent of the program (`heapwatch run`) knows its status or signal.
 * The kernel knows whether the process exists and whether its control group ran
 * out of memory. A broken connection is not a crash: until the process is known
 * to be gone, the run is lost, and the crash is reported only then. When the
 * stream comes back from the same process (same_run.c), the run goes on; until
 * then its alerts stay, for a while.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "proto/base/agent_peer.h"
#include "proto/base/agent_socket.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/run_life.h"
#include "daemon/source/procfs.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "heapwatch/text.h"
#include "proto/base/process.h"
#include "proto/wire/words.h"

#define LOST_PATIENCE_NS UINT64_C(60000000000) /* a run may be lost for this long before its alerts end */
#define EXIT_REPORT_NS   UINT64_C(2000000000)  /* the parent of a process has reported its status by then */
#define FULL_BYTES       65536u                /* with less free disk space a program's next buffer does not fit */

#define UNKNOWN_END "; how it ended is not known: only its parent is told"

/* Of a shell, say, that started the program. A log that ends before its first flush does not tell its process. */
static bool is_exit_of_another(const struct pipeline *p, const struct run_exit *how)
{
        const uint32_t told = run_process(model_run(p->model));
        const uint32_t pid = told || !p->source ? told : source_peer(p->source);

        return how->pid && pid && pipeline_has_run(p) && how->pid != pid;
}

static void format_exit(const struct pipeline *p, const char *why, char *detail, size_t size)
{
        const struct run_exit *how = &p->state.ended;
        const char *name = signal_name((int)how->signal);
        bool is_reserved;
        const uint64_t limit = heap_own_limit(model_run(p->model), model_heap(p->model), &is_reserved);
        char reason[END_REASON_SIZE];

        (void)end_reason(reason, how->signal ? 0 : how->status, how->out_of_cpu,
                         pipeline_has_run(p) && limit != UNKNOWN_U64 ? limit : 0, is_reserved);
        if (is_exit_of_another(p, how)) {
                const int n = snprintf(detail, size, END_OF_COMMAND);
                detail += n;
                size -= (size_t)n;
        }
        if (how->signal)
                snprintf(detail, size, "%s%s by signal %" PRIu32 "%s%s%s%s", is_exit_of_another(p, how) ? "was " : "",
                         life_signal_stops(how->signal) && !how->oom_killed ? "stopped" : "killed", how->signal,
                         name ? " (SIG" : "", name ? name : "", name ? ")" : "",
                         how->oom_killed ? ", out of memory" : reason);
        else
                snprintf(detail, size, "ended with status %" PRIu32 "%s%s%s", how->status, reason, why ? "; " : "",
                         why ? why : "");
}

static void format_executed(const struct pipeline *p, char *detail, size_t size)
{
        struct process_identity now;
        char name[sizeof(now.program) * 2] = "";

        if (procfs_identity(p->state.process.root, p->state.process.pid, &now) == 0)
                (void)hw_terminal_text(name, sizeof(name), now.program);
        (void)snprintf(detail, size, "it executed another program in its place%s%s", name[0] ? ": " : "", name);
}

static void format_marked(const struct run *run, bool goes_on, char *detail, size_t size)
{
        int n = snprintf(detail, size, "the log ended with its end marker");

        if (goes_on)
                n += snprintf(detail + n, size - (size_t)n, ", and its process %" PRIu32 " goes on unwatched",
                              run_process(run));
        for (uint32_t i = 0; run->n_pids > 1 && i < run->n_pids; i++)
                n += snprintf(detail + n, size - (size_t)n, "%s%" PRIu32,
                              i > 0 ? ", " : "; it has the events of several processes together: pid ", run->pids[i]);
}

void pipeline_sample_process(struct pipeline *p)
{
        const struct run *run = model_run(p->model);
        struct process_sample sample;

        if (p->source && source_is_local(p->source) && run->pid && run->start_wall_ns != UNKNOWN_U64)
                (void)process_watch_poll(&p->state.process, run_process(run), run->start_wall_ns, clock_wall_ns(),
                                         &sample);
}

/* A log that could not be written to its end does not show how the program ended. */
static bool disk_is_full(const struct pipeline *p)
{
        struct statvfs disk;

        return p->live && p->uri.kind == SOURCE_FILE && statvfs(source_uri_path(&p->uri), &disk) == 0 &&
               (uint64_t)disk.f_bavail * disk.f_frsize < FULL_BYTES;
}

static bool is_process_alive(const struct pipeline *p)
{
        const struct run *run = model_run(p->model);

        return p->live && process_watch_alive(&p->state.process, run_process(run), run->start_wall_ns);
}

static struct life_evidence gather_evidence(struct pipeline *p, bool marked)
{
        p->state.ended.oom_killed = p->state.process.seen && process_watch_oom_killed(&p->state.process);
        p->state.ended.executed |= p->live && !pipeline_is_process(p) && process_watch_executed(&p->state.process);
        const bool alive = is_process_alive(p);
        return (struct life_evidence){
                .marked = marked,
                .ended_early = p->live && !model_run(p->model)->deleted_capsets,
                .exit_known = p->state.ended.known,
                .signal = p->state.ended.signal,
                .status = p->state.ended.status,
                .process_seen = p->state.process.seen,
                .process_alive = alive,
                .executed = p->state.ended.executed,
                .oom_killed = p->state.ended.oom_killed,
                .disk_full = disk_is_full(p),
                .may_break = p->live && p->uri.kind != SOURCE_FILE,
                .finished = !p->live,
                .alone = pipeline_is_process(p) || ((p->state.file_taken || pipeline_has_no_log(p)) && !alive),
        };
}

/* A log from a recording that reaches the end of its run: what the daemon knew that recorded it, in its words. */
static enum life_event recall_end(struct pipeline *p, char *detail, size_t size)
{
        const struct run_end *end = &p->recorded_end;

        /* By the clock that was set while it ran, as its times were when it was watched. */
        const uint64_t start_wall_ns = run_anchor_wall_ns(model_run(p->model));

        if (end->started_wall_ns && start_wall_ns != UNKNOWN_U64)
                model_step_clock(p->model, (int64_t)(end->started_wall_ns - start_wall_ns),
                                 "heapwatch: the clock was set during the run: its times follow that of its end");
        /* Resident memory of the last moment, of which the log has nothing. */
        const uint64_t at_ns = model_event_time(p->model, end->resident_wall_ns), now_ns = model_time_ns(p->model);
        struct process_sample sample = model_heap(p->model)->process;

        if (end->resident_bytes) {
                sample.rss_bytes = end->resident_bytes;
                sample.wall_ns = end->resident_wall_ns;
                model_process(p->model, at_ns < now_ns ? at_ns : now_ns, &sample);
        }
        p->state.why = end->why;
        p->state.ended = (struct run_exit){
                .known = end->exit_known,
                .signal = end->signal,
                .status = end->status,
                .oom_killed = end->oom_killed,
                .out_of_cpu = end->out_of_cpu,
        };
        snprintf(detail, size, "%s", end->detail);
        return end->state == RUN_END_FAILED    ? ON_END_FAILED
               : end->state == RUN_END_CRASHED ? ON_END_CRASHED
               : end->state == RUN_END_LOST    ? ON_END_UNKNOWN
                                               : ON_END_WELL;
}

enum life_event pipeline_judge_end(struct pipeline *p, bool marked, const char *why, char *detail, size_t size)
{
        if (p->recorded_end.state != RUN_END_UNKNOWN)
                return recall_end(p, detail, size);
        pipeline_sample_process(p);
        p->state.file_taken = false;
        const struct life_evidence e = gather_evidence(p, marked);
        const enum life_event end = life_judge_end(&e);

        p->state.file_taken = e.process_alive && !marked && p->uri.kind == SOURCE_FILE;
        if (e.executed)
                format_executed(p, detail, size);
        else if (e.exit_known)
                format_exit(p, why, detail, size);
        else if (marked)
                format_marked(model_run(p->model), end == ON_END_UNKNOWN, detail, size);
        else if (e.alone && !e.oom_killed)
                snprintf(detail, size, "%s" UNKNOWN_END, why);
        else if (e.process_alive)
                snprintf(detail, size, "%s; its process %" PRIu32 " is still there", why,
                         run_process(model_run(p->model)));
        else if (end == ON_END_UNKNOWN && e.disk_full)
                snprintf(detail, size, "%s; the disk of its log is full: how the program ended is not known", why);
        else if (e.finished && (p->cut || p->ends_damaged))
                snprintf(detail, size, "%s: how the program ended is not known", why);
        else if (e.finished)
                snprintf(detail, size,
                         "%s: killed (SIGTERM and SIGHUP do that, too), gone by exitImmediately, or still running",
                         why);
        else if (end == ON_END_UNKNOWN)
                snprintf(detail, size, "%s; whether the program has ended is not known", why);
        else if (e.process_seen)
                snprintf(detail, size, "process %" PRIu32 " is gone: %s%s", model_run(p->model)->pid, why,
                         e.oom_killed ? "; its control group ran out of memory" : "");
        else
                snprintf(detail, size, "%s", why);
        if (end != ON_END_CRASHED || e.exit_known || !p->one_run || !p->live)
                return end;
        /* The parent, if there is one that reports, knows better in a moment: pipeline_check_lost. */
        return ON_END_UNKNOWN;
}

void pipeline_check_lost(struct pipeline *p, uint64_t wall_ns)
{
        const uint64_t lost_ns = sub_sat(wall_ns, p->state.state_since_wall_ns);

        if (!life_is_lost(p->state.life))
                return;
        char detail[sizeof(p->state.detail)];
        const struct life_evidence e = gather_evidence(p, p->marked);
        const enum life_event end = life_judge_end(&e);
        const bool told_soon = p->one_run && !e.executed && lost_ns < EXIT_REPORT_NS;

        if (e.process_seen && !e.exit_known && !told_soon && end != ON_END_UNKNOWN) {
                if (e.executed)
                        format_executed(p, detail, sizeof(detail));
                else if (end == ON_END_WELL)
                        snprintf(detail, sizeof(detail), "process %" PRIu32 " is gone" UNKNOWN_END,
                                 run_process(model_run(p->model)));
                else
                        snprintf(detail, sizeof(detail), "process %" PRIu32 " is gone%s%s", model_run(p->model)->pid,
                                 pipeline_has_no_log(p) ? "" : ", and its log has no end marker",
                                 e.oom_killed ? "; its control group ran out of memory" : "");
                pipeline_happens_now(p, end, detail);
        }
        if (lost_ns > LOST_PATIENCE_NS)
                pipeline_happens_now(p, ON_LONG_LOST, NULL);
}

/* That a shell ended well tells nothing of the program below it, nor does any end of it while that runs. */
static bool tells_of_program(const struct pipeline *p, const struct run_exit *how)
{
        return !is_exit_of_another(p, how) || ((how->signal || how->status) && !is_process_alive(p));
}

void pipeline_exited(struct pipeline *p, const struct run_exit *how)
{
        const bool marked = p->marked || (p->state.life == LIFE_ENDED && !p->state.ended.known);
        char detail[sizeof(p->state.detail)];

        if (p->state.ended.executed || !tells_of_program(p, how))
                return; /* of one that was executed in its place it does not either */
        p->state.ended = *how;
        p->state.ended.out_of_cpu |= how->signal == SIGXCPU;
        if (p->state.runs == 0 && !p->open)
                p->shut_mono_ns = clock_mono_ns(); /* data must come soon; if not, it ended before its log began */
        if (!life_is_over(p->state.life))
                return; /* the end of the log is still to come */
        const struct life_evidence e = gather_evidence(p, marked);
        format_exit(p, marked || pipeline_has_no_log(p) ? NULL : "its log has no end marker", detail, sizeof(detail));
        pipeline_happens_now(p, life_judge_end(&e), detail);
}

/* The private directory of the `heapwatch run` that it is a target of. *ret_own: of its program, not of one below. */
static bool find_run_directory(const struct pipeline *p, char *ret, size_t size, bool *ret_own)
{
        const char *path = source_uri_path(&p->uri), *slash = strrchr(path, '/');

        *ret_own = slash && !strcmp(slash + 1, AGENT_SOCKET_OF_RUN);
        return p->live && p->one_run && p->uri.kind == SOURCE_UNIX && agent_peer_process(path) == 0 &&
               run_life_directory(path, ret, size);
}

/* It was attached to, and is not there any more, nor was anything of it read. */
static bool is_gone_unseen(const struct pipeline *p)
{
        const pid_t process = p->live && p->one_run && p->state.runs == 0 ? agent_peer_number(p->uri.text) : 0;

        return process > 0 && kill(process, 0) < 0 && errno == ESRCH;
}

void pipeline_check_runner(struct pipeline *p)
{
        char directory[SOURCE_PATH_MAX];
        struct run_life life;
        bool own;

        if (p->state.kept || p->open || pipeline_in_run(p) || p->state.ended.known || p->no_run_comes)
                return;
        if (is_gone_unseen(p)) {
                p->no_run_comes = true;
                p->shut_mono_ns = clock_mono_ns();
                return;
        }
        if (!find_run_directory(p, directory, sizeof(directory), &own) ||
            run_life_has_living_socket(source_uri_path(&p->uri)))
                return;
        run_life_read(directory, &life);
        if (life.end == RUN_LIFE_ENDED && own) {
                pipeline_exited(p,
                                &(const struct run_exit){
                                        .known = true, .pid = life.pid, .signal = life.signal, .status = life.status });
        } else if (p->state.runs == 0 && life.end != RUN_LIFE_RUNS && life.end != RUN_LIFE_UNKNOWN) {
                p->no_run_comes = true;
                p->shut_mono_ns = clock_mono_ns();
                if (life.end == RUN_LIFE_KILLED)
                        pipeline_happens_now(p, ON_END_CRASHED,
                                             "the program and its `heapwatch run` were killed before its log began");
        } else if (life.end == RUN_LIFE_KILLED && own && life_is_lost(p->state.life) && !p->state.process.seen) {
                pipeline_happens_now(p, ON_END_CRASHED,
                                     "the program and its `heapwatch run` were killed; its log has no end marker");
        }
}

/* What is left in the directory of a run whose runner could not remove it. */
static void remove_run_directory(const struct pipeline *p)
{
        char directory[SOURCE_PATH_MAX];
        struct run_life life;
        bool own;

        if (!find_run_directory(p, directory, sizeof(directory), &own) || !own)
                return;
        run_life_read(directory, &life);
        if (life.end == RUN_LIFE_ENDED || life.end == RUN_LIFE_KILLED)
                run_life_remove(directory);
}

/* ---------------------------------------------------------------------- kept */

/* Its program was there, or has ended before its log began. */
static bool was_there(const struct pipeline *p)
{
        return (p->state.life != LIFE_WAITING && p->state.life != LIFE_REFUSED) || p->state.ended.known ||
               p->no_run_comes;
}

bool pipeline_is_over(const struct pipeline *p)
{
        const bool end_told = life_is_over(p->state.life) && !life_is_lost(p->state.life);

        return p->one_run && !p->state.kept && !pipeline_in_run(p) && (end_told || (!p->open && was_there(p)));
}

bool pipeline_is_gone(const struct pipeline *p, uint64_t for_ns)
{
        return pipeline_is_over(p) && !p->open && sub_sat(clock_mono_ns(), p->shut_mono_ns) >= for_ns;
}

bool pipeline_may_return(const struct pipeline *p)
{
        return life_is_lost(p->state.life) && agent_peer_is_uri(p->uri.text) && is_process_alive(p);
}

/* A target without a run is not worth keeping, unless its program failed before its log began. */
bool pipeline_is_worth_keeping(const struct pipeline *p)
{
        return pipeline_has_run(p) || (p->state.ended.known && (p->state.ended.signal || p->state.ended.status)) ||
               p->state.life == LIFE_CRASHED;
}

void pipeline_keep(struct pipeline *p)
{
        char detail[sizeof(p->state.detail)];

        p->state.kept = true;
        if (p->open)
                pipeline_source_state(p, SOURCE_ENDED, "another run has its name");
        if (!pipeline_has_run(p)) {
                const enum life_event end =
                        pipeline_judge_end(p, false, "nothing of its log was seen", detail, sizeof(detail));
                pipeline_happens_now(p, end, detail);
        }
        p->checkpoint_mono_ns = 0;
        remove_run_directory(p);
        source_close(&p->source); /* not busy: its run is over */
        pipeline_publish_state(p);
}

bool pipeline_is_kept(const struct pipeline *p)
{
        return p->state.kept;
}

size_t pipeline_descriptors(const struct pipeline *p)
{
        return p->state.kept ? 0 : source_descriptors(p->uri.kind) + (p->recording ? RECORDING_DESCRIPTORS : 0);
}

uint64_t pipeline_ended_wall_ns(const struct pipeline *p)
{
        return p->state.state_since_wall_ns;
}

/* Must be the last message: a subscriber would take another one for the target's return. */
static void report_removed(struct pipeline *p, const char *detail)
{
        p->removed = detail;
        publisher_state(p->publisher, false, pipeline_now_ns(p));
        p->removed = NULL;
}

void pipeline_remove(struct pipeline **p)
{
        remove_run_directory(*p);
        source_close(&(*p)->source);
        pipeline_happens_now(*p, ON_REMOVE, "removed");
        report_removed(*p, "removed");
        pipeline_destroy(p);
}

struct alerting *pipeline_release_alerting(struct pipeline *p)
{
        const struct run *run = model_run(p->model);
        struct alerting *alerting = p->alerting;

        pipeline_happens_now(p, ON_SET_ASIDE, NULL);
        if (!alerting)
                return NULL;
        alerting_detach(alerting);
        p->alerting = NULL;
        pipeline_wire(p);
        if (!process_watch_alive(&p->state.process, run_process(run), run->start_wall_ns)) /* else it is watched anew */
                alerting_count_restart(alerting);
        return alerting;
}

int pipeline_set_aside(struct pipeline *p, const char *name)
{
        report_removed(p, "another run of this name begins");

        int r = publisher_rename(p->publisher, name);
        if (r == 0)
                snprintf(p->name, sizeof(p->name), "%s", name);
        p->checkpoint_mono_ns = 0;
        pipeline_publish_state(p);
        return r;
}
