/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity.c - which program's log it is and how it ended, and its stream: the first and the last section of a
 * summary.
 */
#include <inttypes.h>
#include <string.h>

#include "client/commands/summary/summary.h"

#define TEXT 512

static const Hw__Run *run_of(const struct summary *s)
{
        return s->t->target ? s->t->target->run_info : NULL;
}

/* A target by its name. */
static const char *log_of(const struct summary *s)
{
        const char *uri = s->t->target ? s->t->target->uri : NULL;

        if (!uri || s->now)
                return s->t->name;
        return strncmp(uri, "file:", 5) ? uri : uri + 5;
}

/* ------------------------------------------------------------- identity */

/* "leaky, GHC 9.10.3 rts_thr_p, pid 12331, 2 capabilities, +RTS -l -hc": one line, as far as it is known. */
static void print_program(FILE *to, const Hw__Run *run)
{
        (void)fputs(run->program ? SAFE_TEXT(TEXT, run->program) : "unknown program", to);
        if (run->ghc_version)
                (void)fprintf(to, ", GHC %s", SAFE_TEXT(TEXT, run->ghc_version));
        if (run->rts_way)
                (void)fprintf(to, " %s", SAFE_TEXT(TEXT, run->rts_way));
        if (run->has_pid)
                (void)fprintf(to, ", pid %" PRIu32, run->pid);
        if (run->has_capabilities)
                (void)fprintf(to, ", %" PRIu32 " capabilit%s", run->capabilities, run->capabilities == 1 ? "y" : "ies");
        if (run->n_rts_options)
                (void)fputs(", +RTS", to);
        for (size_t i = 0; i < run->n_rts_options; i++)
                (void)fprintf(to, " %s", SAFE_TEXT(TEXT, run->rts_options[i]));
        (void)fputc('\n', to);
}

static void print_when(FILE *to, const struct summary *s, const Hw__Run *run)
{
        struct elapsed e = summary_elapsed(s);
        const char *between = "";

        if (run->has_start_wall_ns) {
                (void)fprintf(to, "started %s", TIME_TEXT(run->start_wall_ns));
                between = ", ";
        }
        if (e.known) {
                (void)fprintf(to, "%s%s of events%s", between, DURATION_TEXT(e.span_ns),
                              s->now && s->t->target->state == HW__TARGET__STATE__STATE_RUNNING ? " so far" : "");
                if (e.late)
                        (void)fprintf(to, " from %s after the start on", DURATION_TEXT(run->first_time_ns));
                between = ", ";
        }
        if (s->t->target->detail && s->t->target->detail[0])
                (void)fprintf(to, "%s%s", between, SAFE_TEXT(TEXT, s->t->target->detail));
        (void)fputc('\n', to);
}

void identity_text(FILE *to, const struct summary *s)
{
        (void)fputs(SAFE_TEXT(4096, log_of(s)), to);
        if (s->t->target && s->t->target->runs > 1)
                (void)fprintf(to, ", run %" PRIu32, s->t->run);
        (void)fputc('\n', to);
        if (!run_of(s))
                return;
        print_program(to, run_of(s));
        print_when(to, s, run_of(s));
}

static void json_run(struct json_out *j, const Hw__Run *run)
{
        json_known_text(j, "program", run->program);
        json_known_text(j, "ghcVersion", run->ghc_version);
        json_known_text(j, "rtsWay", run->rts_way);
        json_known_u64(j, "pid", run->has_pid, run->pid);
        json_known_u64(j, "capabilities", run->has_capabilities, run->capabilities);
        json_known_u64(j, "startWallNs", run->has_start_wall_ns, run->start_wall_ns);
        json_known_u64(j, "firstTimeNs", run->has_first_time_ns, run->first_time_ns);
        if (!run->n_rts_options)
                return;
        json_member_open(j, "rtsOptions", '[');
        for (size_t i = 0; i < run->n_rts_options; i++)
                json_text(j, run->rts_options[i]);
        json_close(j, ']');
}

void identity_json(struct json_out *j, const struct summary *s)
{
        const Hw__Target *target = s->t->target;

        json_known_text(j, s->now ? "target" : "log", log_of(s));
        json_known_u64(j, "run", true, s->t->run);
        if (run_of(s))
                json_run(j, run_of(s));
        json_known_u64(j, "lastTimeNs", s->t->event_time_ns > 0, s->t->event_time_ns);
        if (target && target->has_state) {
                json_member_bool(j, "finished", target->state == HW__TARGET__STATE__STATE_ENDED);
                json_known_text(j, "detail", target->detail);
        }
}

/* --------------------------------------------------------------- stream */

bool stream_known(const struct summary *s)
{
        return s->last && s->t->health;
}

static void print_count(FILE *to, bool known, uint64_t n, const char *words)
{
        if (known && n)
                (void)fprintf(to, "  %16s %s\n", COUNT_TEXT(n), words);
}

/* What was lost or left out: only what happened has a line. */
static void print_losses(FILE *to, const Hw__Health *h)
{
        print_count(to, h->has_unknown_events, h->unknown_events, "events of types that heapwatch does not know");
        print_count(to, h->has_short_events, h->short_events, "events dropped: shorter than their type needs");
        print_count(to, h->has_late_samples, h->late_samples, "samples too late for their window");
        print_count(to, h->has_time_anomalies, h->time_anomalies, "times outside their block");
        print_count(to, h->has_bands_left_out, h->bands_left_out,
                    h->memory_pressure ? "bands left out: the daemon is short of memory"
                                       : "bands left out: beyond what the daemon keeps");
        print_count(to, h->has_info_tables_left_out, h->info_tables_left_out,
                    "info tables left out: beyond the daemon's limit");
        print_count(to, h->has_cost_centres_left_out, h->cost_centres_left_out,
                    "cost centres left out: beyond the daemon's limit");
        for (size_t i = 0; i < h->n_damages; i++) {
                const Hw__Damage *d = h->damages[i];
                (void)fprintf(to, "  damage: %s byte%s lost at offset %s: %s\n", COUNT_TEXT(d->lost_bytes),
                              plural(d->lost_bytes), COUNT_TEXT(d->offset),
                              SAFE_TEXT(TEXT, d->reason ? d->reason : "unknown reason"));
        }
        if (h->resyncs > h->n_damages)
                (void)fprintf(to, "  damage: and %s earlier place%s\n", COUNT_TEXT(h->resyncs - h->n_damages),
                              plural(h->resyncs - h->n_damages));
}

void stream_text(FILE *to, const struct summary *s)
{
        const Hw__Health *h = s->t->health;
        char gap[HW_NUMBER_MAX];

        if (s->t->target && s->t->target->run_info && s->t->target->run_info->process_only)
                (void)fputs("\n  Log: none, only its process is watched\n", to);
        else {
                (void)fprintf(to, "\n  Log: %s events in %s bytes", COUNT_TEXT(h->events), COUNT_TEXT(h->bytes));
                if (h->lost_bytes || h->resyncs)
                        (void)fprintf(to, ", %s byte%s lost at %s damaged place%s\n", COUNT_TEXT(h->lost_bytes),
                                      plural(h->lost_bytes), COUNT_TEXT(h->resyncs), plural(h->resyncs));
                else
                        (void)fputs(h->unread || h->gaps ? "\n" : ", nothing lost\n", to);
                if (h->gaps)
                        (void)fprintf(to, "  %s not seen in %s gap%s\n",
                                      hw_duration_text(gap, sizeof(gap), (double)h->gap_ns), COUNT_TEXT(h->gaps),
                                      plural(h->gaps));
                if (h->unread)
                        (void)fprintf(to, "  not all of the log was read: %s\n", SAFE_TEXT(TEXT, h->unread));
        }
        print_losses(to, h);
        for (size_t i = 0; i < h->n_advice; i++)
                if (h->advice[i]->text)
                        (void)fprintf(to, "  hint: %s\n", SAFE_TEXT(TEXT, h->advice[i]->text));
}

void stream_json(struct json_out *j, const struct summary *s)
{
        const Hw__Health *h = s->t->health;

        facts_print(j, "bytes", s->t, FACT_STREAM_BYTES);
        facts_print(j, "events", s->t, FACT_STREAM_EVENTS);
        facts_print(j, "blocks", s->t, FACT_STREAM_BLOCKS);
        facts_print(j, "lostBytes", s->t, FACT_STREAM_LOST);
        facts_print(j, "resyncs", s->t, FACT_STREAM_RESYNCS);
        facts_print(j, "gaps", s->t, FACT_STREAM_GAPS);
        facts_print(j, "gapNs", s->t, FACT_STREAM_GAP);
        facts_print(j, "unknownEvents", s->t, FACT_STREAM_UNKNOWN);
        facts_print(j, "shortEvents", s->t, FACT_STREAM_SHORT);
        facts_print(j, "lateSamples", s->t, FACT_STREAM_LATE);
        facts_print(j, "timeAnomalies", s->t, FACT_STREAM_ANOMALIES);
        facts_print(j, "bandsLeftOut", s->t, FACT_BANDS_LEFT_OUT);
        json_known_u64(j, "infoTablesLeftOut", h->has_info_tables_left_out, h->info_tables_left_out);
        json_known_u64(j, "costCentresLeftOut", h->has_cost_centres_left_out, h->cost_centres_left_out);
        json_known_text(j, "unread", h->unread);
        json_member_open(j, "damages", '[');
        for (size_t i = 0; i < h->n_damages; i++) {
                json_open(j, '{');
                json_known_u64(j, "offset", true, h->damages[i]->offset);
                json_known_u64(j, "lostBytes", true, h->damages[i]->lost_bytes);
                json_known_text(j, "reason", h->damages[i]->reason);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_member_open(j, "advice", '[');
        for (size_t i = 0; i < h->n_advice; i++)
                json_text(j, h->advice[i]->text);
        json_close(j, ']');
}
