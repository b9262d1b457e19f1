/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: texts that explain an alert: sentences of trends, why a stream is silent or a recording paused, notes. */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/watch/alerting/internal.h"
#include "proto/base/ckd.h"
#include "proto/base/process.h"
#include "heapwatch/text.h"
#include "daemon/publish/sentences.h"
#include "proto/base/time.h"

/* Who sees to it that the log comes: an agent, or the runtime by its option. */
enum flusher { FLUSHED_BY_NOBODY, FLUSHED_BY_RUNTIME, FLUSHED_BY_AGENT };

static enum flusher flusher_of(const struct alerting *a)
{
        if (a->agent)
                return FLUSHED_BY_AGENT;
        return run_has_rts_option(model_run(a->model), "--eventlog-flush-interval") ? FLUSHED_BY_RUNTIME
                                                                                    : FLUSHED_BY_NOBODY;
}

static void explain_stall(const struct alerting *a, char *out, size_t size)
{
        static const char *const working[] = {
                [FLUSHED_BY_NOBODY] = " and has no flush interval: it writes only when a 2 MiB buffer is full",
                [FLUSHED_BY_RUNTIME] =
                        " but does not write: its flush interval does not work, or the reader of its "
                        "log was replaced",
                [FLUSHED_BY_AGENT] =
                        ", but its agent, which flushes the log, sends nothing: a loop that "
                        "does not allocate may keep it from flushing",
        };
        const enum flusher flusher = flusher_of(a);
        const uint64_t used = alerting_cpu_since_bytes(a);
        char text[HW_NUMBER_MAX];

        if (used == UNKNOWN_U64) {
                snprintf(out, size, "%s",
                         flusher == FLUSHED_BY_NOBODY
                                 ? "it has no flush interval, so it writes only when a buffer is full"
                                 : "its process cannot be seen from here, so whether it is idle or hangs is not known");
                return;
        }
        hw_duration_text(text, sizeof(text), (double)used);
        if (used > NS_PER_S)
                snprintf(out, size, "the process works (%s of CPU time since then)%s", text, working[flusher]);
        else if (flusher == FLUSHED_BY_RUNTIME && model_run(a->model)->threaded)
                snprintf(out, size,
                         "the process has used no CPU time since then: it is idle, or it hangs at its exit, "
                         "which --eventlog-flush-interval is known to cause");
        else
                snprintf(out, size, "the process has used no CPU time since then: it is idle%s",
                         flusher == FLUSHED_BY_AGENT ? ", or stopped" : "");
}

static void explain_pause(const struct alerting *a, char *out, size_t size)
{
        if (a->pause_others == 0)
                snprintf(out, size, "%s", a->pause);
        else
                snprintf(out, size, "%s; the same holds for %" PRIu64 " other %s", a->pause, a->pause_others,
                         a->pause_others == 1 ? "target" : "targets");
}

void alerting_words(void *ctx, enum rule_words what, struct rule_subject s, char out[RULE_WORDS_MAX])
{
        struct alerting *a = ctx;
        struct limit_time limit;
        struct tracked_early rise;
        struct trend_result trend;
        struct growth growth;
        struct thread_rise piling;

        out[0] = '\0';
        switch (what) {
        case WORDS_WHERE:
                tracker_growth(a->tracker, &growth);
                (void)sentence_growth(out, RULE_WORDS_MAX, &growth, model_bands(a->model));
                break;
        case WORDS_TIME_TO_LIMIT:
                if (tracker_time_to_limit(a->tracker, &limit))
                        (void)sentence_limit(out, RULE_WORDS_MAX, &limit);
                break;
        case WORDS_RUNS_OUT:
                if (tracker_early(a->tracker, &rise))
                        (void)sentence_early(out, RULE_WORDS_MAX, &rise);
                break;
        case WORDS_THREADS:
                if (tracker_thread_rise(a->tracker, &piling))
                        (void)sentence_threads(out, RULE_WORDS_MAX, &piling, model_bands(a->model));
                break;
        case WORDS_VERDICT:
                if (alerting_trend(a, s, &trend))
                        (void)sentence_verdict(out, RULE_WORDS_MAX, &trend);
                break;
        case WORDS_SIZING:
                (void)sentence_sizing(out, RULE_WORDS_MAX, model_run(a->model), model_heap(a->model));
                break;
        case WORDS_REASON:
                if (s.id == RULE_RECORDING_PAUSED_FIRST)
                        explain_pause(a, out, RULE_WORDS_MAX);
                else if (s.id == RULE_RECORDING_PAUSED)
                        snprintf(out, RULE_WORDS_MAX, "%s", a->pause);
                else if (s.id == RULE_CRASHED || s.id == RULE_FAILED)
                        snprintf(out, RULE_WORDS_MAX, "%s", s.id == RULE_CRASHED ? a->crash_words : a->failure_words);
                else if (!a->in_run)
                        snprintf(out, RULE_WORDS_MAX, "%s", a->end_words);
                else if (a->live)
                        explain_stall(a, out, RULE_WORDS_MAX);
                break;
        }
}

const char *alerting_note(void *ctx, uint64_t time_ns, uint64_t *ret_time_ns)
{
        const struct alerting *a = ctx;
        const struct note *before = tracker_note_before(a->tracker, time_ns);
        const struct note *after = tracker_note_after(a->tracker, time_ns);
        const struct note *nearest = before;

        bool nearer = before && after && sub_abs(after->time_ns, time_ns) < sub_abs(before->time_ns, time_ns);
        bool outranks = before && after && (after->what == NOTE_MARKER) != (before->what == NOTE_MARKER);

        if (!before || (outranks ? after->what == NOTE_MARKER : nearer))
                nearest = after;
        if (!nearest)
                return NULL;
        *ret_time_ns = nearest->time_ns;
        return nearest->text;
}
