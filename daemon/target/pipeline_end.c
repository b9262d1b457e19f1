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
 * stream comes back from the same process (same_run.h), the run goes on; until
 * then its alerts stay, for a while.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "daemon/target/pipeline_internal.h"
#include "daemon/target/rebuild.h"

#define LOST_PATIENCE_NS UINT64_C(60000000000) /* a run may be lost for this long before its alerts end */
#define HEAP_EXHAUSTED   251u                  /* EXIT_HEAPOVERFLOW of Rts.h: more than -M allows */
#define FULL_BYTES       65536u                /* with less free disk space a program's next buffer does not fit */

void pipeline_forget_end(struct pipeline *p)
{
        p->ended = (struct run_exit){ .known = false };
}

/* A file or FIFO ends with its writer; a connection may also break. */
static bool source_may_break(const struct pipeline *p)
{
        return p->uri.kind == SOURCE_UNIX || p->uri.kind == SOURCE_TCP || p->uri.kind == SOURCE_UNIX_LISTEN ||
               p->uri.kind == SOURCE_TCP_LISTEN;
}

static void say_exit(const struct run_exit *how, const char *why, char *detail, size_t size)
{
        const char *name = how->signal ? sigabbrev_np((int)how->signal) : NULL;

        if (how->signal)
                snprintf(detail, size, "killed by signal %" PRIu32 "%s%s%s%s", how->signal, name ? " (SIG" : "",
                         name ? name : "", name ? ")" : "", how->oom_killed ? ", out of memory" : "");
        else
                snprintf(detail, size, "ended with status %" PRIu32 "%s%s%s", how->status,
                         how->status == HEAP_EXHAUSTED ? ", GHC's for an exhausted heap" : "", why ? "; " : "",
                         why ? why : "");
}

/* For a run that is over before the first heartbeat: its process may still exist. */
static void look_once(struct pipeline *p, const struct run *run)
{
        struct process_sample sample;

        if (p->source && source_is_local(p->source) && run->pid && run->start_wall_ns != UNKNOWN_U64)
                (void)process_watch_look(&p->process, run->pid, run->start_wall_ns, clock_wall_ns(), &sample);
}

/* A log that could not be written to its end does not show how the program ended. */
static bool disk_is_full(const struct pipeline *p)
{
        struct statvfs disk;

        return p->live && p->uri.kind == SOURCE_FILE && statvfs(source_uri_path(&p->uri), &disk) == 0 &&
               (uint64_t)disk.f_bavail * disk.f_frsize < FULL_BYTES;
}

Hw__Target__State pipeline_state_at_end(struct pipeline *p, const char *why, char *detail, size_t size)
{
        const struct run *run = model_run(p->model);

        look_once(p, run);
        bool seen = p->process.seen;
        p->ended.oom_killed = seen && process_watch_oom_killed(&p->process);
        if (p->ended.known) {
                say_exit(&p->ended, why, detail, size);
                return p->ended.signal || p->ended.status ? HW__TARGET__STATE__STATE_CRASHED
                                                          : HW__TARGET__STATE__STATE_ENDED;
        }
        if (pipeline_is_process(p) && !p->ended.oom_killed) {
                snprintf(detail, size, "%s; how it ended is not known: only its parent is told", why);
                return HW__TARGET__STATE__STATE_ENDED;
        }
        if (p->live && seen && process_watch_alive(&p->process, run->pid, run->start_wall_ns)) {
                snprintf(detail, size, "%s; its process %" PRIu32 " is still there", why, run->pid);
                return HW__TARGET__STATE__STATE_LOST;
        }
        if (!p->ended.oom_killed && disk_is_full(p)) {
                snprintf(detail, size, "%s; the disk of its log is full: how the program ended is not known", why);
                return HW__TARGET__STATE__STATE_LOST;
        }
        if (p->live && !seen && source_may_break(p)) {
                snprintf(detail, size, "%s; whether the program has ended is not known", why);
                return HW__TARGET__STATE__STATE_LOST;
        }
        snprintf(detail, size, "%s%s", why, p->ended.oom_killed ? "; its control group ran out of memory" : "");
        return HW__TARGET__STATE__STATE_CRASHED;
}

static void change_end(struct pipeline *p, Hw__Target__State state, const char *detail)
{
        if (p->alerting)
                alerting_know_end(p->alerting, state == HW__TARGET__STATE__STATE_CRASHED, detail);
        pipeline_set_state(p, state, detail);
        pipeline_publish_state(p);
}

void pipeline_give_up_lost(struct pipeline *p)
{
        if (p->alerts_wait)
                while (!alerting_end_run(p->alerting, false, p->detail))
                        ; /* each call judges part of one moment */
        p->alerts_wait = false;
}

void pipeline_look_after_lost(struct pipeline *p, uint64_t wall_ns)
{
        if (p->alerts_wait && sub_sat(wall_ns, p->state_since_wall_ns) > LOST_PATIENCE_NS)
                pipeline_give_up_lost(p);
}

void pipeline_lost_process_gone(struct pipeline *p)
{
        char detail[sizeof(p->detail)];

        pipeline_give_up_lost(p);
        p->ended.oom_killed = process_watch_oom_killed(&p->process);
        if (!p->ended.oom_killed && disk_is_full(p))
                return;
        snprintf(detail, sizeof(detail), "process %" PRIu32 " is gone, and its log has no end marker%s",
                 model_run(p->model)->pid, p->ended.oom_killed ? "; its control group ran out of memory" : "");
        change_end(p, HW__TARGET__STATE__STATE_CRASHED, detail);
}

void pipeline_exited(struct pipeline *p, const struct run_exit *how)
{
        bool marked = p->state == HW__TARGET__STATE__STATE_ENDED && !pipeline_is_process(p), oom = p->ended.oom_killed;
        char detail[sizeof(p->detail)];

        if (p->rebuild) {
                rebuild_exited(p->rebuild, how);
                return;
        }
        p->ended = *how;
        p->ended.oom_killed = oom;
        if (p->runs == 0 && !p->open)
                p->shut_mono_ns = clock_mono_ns(); /* data must come soon; if not, it ended before its log began */
        if (p->in_run || p->runs == 0)
                return; /* the end of the log is still to come */
        say_exit(&p->ended, marked || pipeline_is_process(p) ? NULL : "its log has no end marker", detail,
                 sizeof(detail));
        pipeline_give_up_lost(p);
        change_end(p,
                   how->signal || (how->status && !marked) ? HW__TARGET__STATE__STATE_CRASHED
                                                           : HW__TARGET__STATE__STATE_ENDED,
                   detail);
}

/* ---------------------------------------------------------------------- kept */

bool pipeline_is_over(const struct pipeline *p, uint64_t for_ns)
{
        return p->one_run && !p->rebuild && !p->kept && !p->in_run && !p->open && (p->was_open || p->ended.known) &&
               sub_sat(clock_mono_ns(), p->shut_mono_ns) >= for_ns;
}

/* A target without a run is not worth keeping, unless its program failed before its log began. */
bool pipeline_is_worth_keeping(const struct pipeline *p)
{
        return pipeline_has_run(p) || (p->ended.known && (p->ended.signal || p->ended.status));
}

void pipeline_keep(struct pipeline *p)
{
        char detail[sizeof(p->detail)];

        p->kept = true;
        if (!pipeline_has_run(p)) {
                say_exit(&p->ended, "nothing of its log was seen", detail, sizeof(detail));
                change_end(p, HW__TARGET__STATE__STATE_CRASHED, detail);
        }
        p->checkpoint_mono_ns = 0;
        source_close(&p->source); /* not busy: its run is over */
        pipeline_publish_state(p);
}

bool pipeline_is_kept(const struct pipeline *p)
{
        return p->kept;
}

size_t pipeline_descriptors(const struct pipeline *p)
{
        return p->kept ? 0 : source_descriptors(p->uri.kind) + (p->recording ? RECORDING_DESCRIPTORS : 0);
}

uint64_t pipeline_ended_wall_ns(const struct pipeline *p)
{
        return p->state_since_wall_ns;
}

/* Must be the last message: a subscriber would take another one for the target's return. */
static void say_removed(struct pipeline *p, const char *detail)
{
        struct target_facts removed = pipeline_facts(p);

        removed.state = HW__TARGET__STATE__STATE_REMOVED;
        removed.detail = detail;
        publisher_state(rebuild_reads(p->rebuild) ? rebuild_publisher(p->rebuild) : p->publisher, &removed, NULL,
                        pipeline_now_ns(p));
}

void pipeline_remove(struct pipeline **p)
{
        source_close(&(*p)->source);
        say_removed(*p, "removed");
        pipeline_destroy(p);
}

int pipeline_set_aside(struct pipeline *p, const char *name)
{
        if (p->alerting) {
                pipeline_give_up_lost(p);                  /* the alerts of a lost run have no owner any more */
                alerting_know_end(p->alerting, false, ""); /* withdraws the alerts about the end */
                alerting_destroy(&p->alerting);
                pipeline_wire(p);
        }
        say_removed(p, "another run of this name begins");

        int r = publisher_rename(p->publisher, name);
        if (r == 0)
                snprintf(p->name, sizeof(p->name), "%s", name);
        p->checkpoint_mono_ns = 0;
        pipeline_publish_state(p);
        return r;
}
