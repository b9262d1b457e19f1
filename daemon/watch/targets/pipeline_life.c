/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_life.c - the effects of the table of a run's life (life.def): what begins, ends and resumes with a run.
 *
 * DESIGN: the table decides, this file obeys. An effect that needs more than a turn (the rules of a run's last moment)
 * comes first and leaves everything as it was until it is done.
 */
#include <inttypes.h>
#include <stdio.h>

#include "proto/base/agent_peer.h"
#include "proto/base/clock.h"
#include "daemon/log.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "heapwatch/text.h"

#define TURN_NS   10000000u            /* live: rules that take longer are judged in several turns */
#define MISSED_NS UINT64_C(2000000000) /* between flushes there is less */

static const char joined_late[] =
        "joined late, in the middle of its run: its program and the names it had given until "
        "then (cost centres, info tables, threads) are not known";

void pipeline_begin_turn(struct pipeline *p, bool hurry)
{
        if (p->alerting && p->live)
                alerting_turn(p->alerting, clock_mono_ns() + TURN_NS, hurry);
}

/* ------------------------------------------------------------------ effects */

static enum alerting_end end_of(enum life_state state)
{
        return state == LIFE_CRASHED ? ALERTING_CRASHED : state == LIFE_FAILED ? ALERTING_FAILED : ALERTING_ENDED;
}

/* False: not all of the run has been judged in this turn. */
static bool end_alerts(struct pipeline *p, enum life_state next, const char *why)
{
        return !p->alerting ||
               alerting_end_run(p->alerting, end_of(next), why && next != LIFE_ABANDONED ? why : p->state.detail);
}

/* What a closed run still owes before it is over. False: the turn is over first. */
static bool settle_state(struct pipeline *p)
{
        if (!tracker_resume(p->tracker))
                return false;
        pipeline_flush(p);
        return true;
}

static void begin_run(struct pipeline *p)
{
        p->state.runs++;
        p->state.gaps = p->state.gap_ns = p->state.longest_wait_ns = 0;
        p->state.joined_late = !pipeline_is_process(p) && (p->headless || hw_eventlog_joined(p->decoder));
        p->state.ended = (struct run_exit){ .known = false };
        p->marked = false;
        p->state.why.state = RUN_WHY_NONE;
        p->recorded_end.state = RUN_END_UNKNOWN;
        p->recorded_limit_bytes = 0; /* not even that none is known */
        process_watch_begin(&p->state.process, p->source ? source_peer(p->source) : 0,
                            p->source ? source_peer_stack(p->source) : 0);
        p->stopped_mono_ns = p->gone_mono_ns = 0;
        p->next_tick_ns = 0;
        log_debug("target=%s run=%" PRIu32 " begins; header read, bytes=%" PRIu64, p->name, p->state.runs,
                  hw_eventlog_stats(p->decoder)->bytes);
        if (p->recording)
                recording_begin(p->recording, p->decoder, p->state.last_bytes_wall_ns);
        model_begin_run(p->model, p->state.runs);
        tracker_begin_run(p->tracker);
        publisher_begin_run(p->publisher, pipeline_now_ns(p));
}

static void count_gap(struct pipeline *p)
{
        p->state.gaps++;
        p->state.gap_ns += p->missed_ns;
}

/* The lost run goes on: its state stays, and what was missed is counted. */
static void resume_run(struct pipeline *p)
{
        if (p->missed_ns != UNKNOWN_U64)
                count_gap(p);
        p->state.ended = (struct run_exit){ .known = false };
        p->marked = false;
        model_resume_run(p->model, p->missed_ns > MISSED_NS);
        tracker_resume_run(p->tracker);
        if (p->recording)
                recording_resume(p->recording, p->decoder, false, p->state.last_bytes_wall_ns);
        if (p->alerting)
                alerting_resume_run(p->alerting);
}

/* Events without a new header after an end marker: damage looked like one. */
static void reopen_source(struct pipeline *p)
{
        log_debug("target=%s run=%" PRIu32 " continues: events after its end marker", p->name, p->state.runs);
        model_resume_run(p->model, false);
        tracker_resume_run(p->tracker);
        if (p->alerting)
                alerting_resume_run(p->alerting);
        if (p->recording)
                recording_begin(p->recording, p->decoder, p->state.last_bytes_wall_ns);
}

/* ------------------------------------------------------------------- states */

static const char *detail_in_run(const struct pipeline *p, unsigned effects, char *text, size_t size)
{
        char gap[32];

        if (p->outside)
                return "read from outside: its agent cannot be reached any more";
        if (!(effects & (DO_RESUME | DO_COUNT_GAP)))
                return p->state.joined_late ? joined_late : "";
        if (p->missed_ns == UNKNOWN_U64)
                return "goes on after a broken connection";
        (void)hw_duration_text(gap, sizeof(gap), (double)p->missed_ns);
        (void)snprintf(text, size, "goes on after a broken connection; %s of it was missed", gap);
        return text;
}

static void move_state(struct pipeline *p, const struct life_step *step, const char *why)
{
        char text[128];

        if (step->next == LIFE_RUNNING)
                why = detail_in_run(p, step->effects, text, sizeof(text));
        else if (!why || step->next == LIFE_ENDING || step->next == LIFE_ABANDONED)
                why = p->state.detail;
        pipeline_set_state(p, step->next, why);
}

bool pipeline_happens(struct pipeline *p, enum life_event event, const char *why)
{
        struct life_step step;

        do {
                step = life_step(p->state.life, event);
                if (!step.listed)
                        return true;
                if (step.effects & DO_CLOSE_RUN) {
                        /* Ended by a signal it has not completed its log, however it was meant. */
                        log_debug("target=%s run=%" PRIu32 " ends at event_time=%" PRIu64, p->name, p->state.runs,
                                  model_time_ns(p->model));
                        model_end_run(p->model,
                                      (event == ON_END_WELL || event == ON_END_FAILED) && !p->state.ended.signal);
                        tracker_end_run(p->tracker);
                }
                if (p->state.life == LIFE_ENDING && event != ON_REMOVE && !settle_state(p))
                        return false;
                if ((step.effects & DO_END_ALERTS) && !end_alerts(p, step.next, why))
                        return false;
                if ((step.effects & DO_REPORT_END) && p->alerting)
                        alerting_set_end(p->alerting, end_of(step.next), why ? why : p->state.detail);
                if (step.effects & DO_AWAIT_RETURN) {
                        same_run_destroy(&p->same_run);
                        p->same_run = p->live ? same_run_new(p->model, agent_peer_is_uri(p->uri.text))
                                              : NULL; /* what follows in a finished log is another run */
                }
                if ((step.effects & DO_KEEP_PREVIOUS) && p->next_run)
                        p->next_run(p->next_run_ctx, p);
                if (step.effects & DO_BEGIN_RUN)
                        begin_run(p);
                if (step.effects & DO_RESUME)
                        resume_run(p);
                if (step.effects & DO_REOPEN)
                        reopen_source(p);
                if (step.effects & DO_COUNT_GAP)
                        count_gap(p);
                /* Alerts about how it ended are over when another takes its name; the others span its runs. */
                if ((step.effects & DO_RELEASE_ALERTS) && p->alerting)
                        alerting_set_end(p->alerting, ALERTING_ENDED, "");
                move_state(p, &step, why);
                if (step.effects & DO_REPORT_END)
                        pipeline_publish_state(p); /* the exit status may be all that is new */
                if ((step.effects & DO_BEGIN_RUN) && p->alerting)
                        alerting_begin_run(p->alerting, p->state.runs);
        } while (step.effects & DO_AGAIN);
        return true;
}

void pipeline_happens_now(struct pipeline *p, enum life_event event, const char *why)
{
        pipeline_begin_turn(p, true);
        while (!pipeline_happens(p, event, why))
                ; /* each call judges part of one moment */
}
