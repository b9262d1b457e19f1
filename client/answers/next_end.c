/* SPDX-License-Identifier: BSD-3-Clause */
/* next_end.c - what to do next: what keeps a target from being seen, and how its program ended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/advice.h"
#include "proto/eventlog/advice.h"

#define OOM_LOOK "journalctl -k --grep \"out of memory\""

CONDITION(cannot_be_read, e->ending == FAILED)

static void append_cannot_be_read(char *text, const struct evidence *e)
{
        append_text(text, "Fix what its state says, or watch another source: heapwatch remove %s, then heapwatch add",
                    e->t->name);
}

CONDITION(not_begun, e->ending == AWAITED)

CONDITION(is_stopped, e->ending == STOPPED)

static void append_stopped(char *text, const struct evidence *e)
{
        const Hw__Run *run = e->t->target->run_info;

        if (run && run->pid && strstr(e->detail, "SIGSTOP"))
                append_text(text, "Let it go on: kill -CONT %" PRIu32 " (fg in its terminal)", run->pid);
        else
                append_text(text, "Let whoever has stopped it continue it");
        append_text(text, "; meanwhile heapwatch why %s and heapwatch threads %s read it as it is", e->t->name,
                    e->t->name);
}

CONDITION(no_collections, is_advised(e, HW_ADVICE_NO_GC_EVENTS))

static void append_keeps_events(char *text, const struct evidence *e)
{
        append_text(text,
                    "Watch it from inside: heapwatch attach PID; or let a thread of it call Debug.Trace.flushEventLog "
                    "once a "
                    "second%s",
                    is_advised(e, HW_ADVICE_OLD_GHC) ? " (GHC 9.2 or newer)" : "");
}

CONDITION(out_of_memory, e->ending >= ENDED_BADLY && e->ending <= LOST && !e->grows && !e->rise &&
                                 e->t->target->has_oom_killed && e->t->target->oom_killed)

CONDITION(heap_exhausted,
          e->ending == ENDED_BADLY && !e->grows && !e->rise && e->t->target->exit_status == EXIT_HEAP_EXHAUSTED)

static void append_heap_exhausted(char *text, const struct evidence *e)
{
        if (!e->t->run) {
                append_text(text,
                            "Its heap was exhausted before anything of its log was seen: raise -M, or read its last "
                            "output");
                return;
        }
        append_text(
                text,
                "Its heap was exhausted, and no rise of live data towards that is seen: look at the charts for a peak, "
                "which needs a higher -M or less held at once");
}

/* What is known of its memory before the end: a run too short for a verdict may have grown. */
static const char *memory_before(const struct evidence *e)
{
        return e->verdict == HW__VERDICT__VERDICT_STEADY ? "memory did not grow before"
                                                         : "whether memory grew before is not known";
}

CONDITION(killed_steady, e->ending == KILLED && !e->grows && !e->rise)

static void append_killed(char *text, const struct evidence *e)
{
        const Hw__Run *run = e->t->target->run_info;
        char core[64] = "coredumpctl list";

        if (run && run->pid)
                (void)snprintf(core, sizeof(core), "heapwatch threads coredump:%" PRIu32, run->pid);
        if (e->t->target->exit_signal == 9)
                append_text(text, "Find who sent SIGKILL: " OOM_LOOK " shows the kernel's own; %s", memory_before(e));
        else
                append_text(text, "Read its last output, and its core file, if systemd keeps one (%s): %s", core,
                            memory_before(e));
}

CONDITION(failed_steady, (e->ending == ENDED_BADLY || e->ending == CRASHED) && !e->grows && !e->rise)

static void append_failed(char *text, const struct evidence *e)
{
        if (e->t->run)
                append_text(text, "Read its last output: nothing here explains the end, %s", memory_before(e));
        else
                append_text(text, "Read its last output: it ended before anything of its log was seen");
}

CONDITION(kept_events, e->ending == ENDED_SOMEHOW && !e->trend)

const struct advice advice_of_end[] = {
        { "cannot-be-read", cannot_be_read, .append = append_cannot_be_read },
        { "not-begun", not_begun,
          .text = "Start the program with +RTS -l; heapwatch run -- PROGRAM starts and watches it" },
        { "stopped", is_stopped, .append = append_stopped },
        { "no-collections", no_collections,
          .text = "Run it with +RTS -l: collections are not in its log, so nothing is known of its heap" },
        { "not-flushed", keeps_events, .append = append_keeps_events },
        { "out-of-memory", out_of_memory,
          .text = "Its control group ran out of memory, and no rise of this program's is seen: see who used it "
                  "(" OOM_LOOK "), and raise the limit or lower the peak" },
        { "heap-exhausted", heap_exhausted, .append = append_heap_exhausted },
        { "killed", killed_steady, .append = append_killed },
        { "failed", failed_steady, .append = append_failed },
        { "not-completed", kept_events,
          .text = "Watch the next run by heapwatch run -- PROGRAM, which sees how it ends; what this one had in its "
                  "buffers is lost" },
        { .name = NULL },
};
