/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the answers that every screen gives (client/answers), then the facts
 * behind them, most important first: memory at the end compared with the limit,
 * the bands that grew most, the last notes, collections, what the stream lost.
 * What is unknown is left out.
 */
#include "client/post_mortem/account.h"

#include <string.h>

#include "client/answers/answers.h"
#include "heapwatch/text.h"
#include "proto/base/json_out.h"

#define BANDS 5
#define NOTES 5
#define LABEL 60 /* bytes of a band's label that are shown */

enum end account_end(const struct world_target *t)
{
        const Hw__Target *s = t->target;

        if (!s || s->state == HW__TARGET__STATE__STATE_LOST)
                return END_UNKNOWN;
        if (s->state == HW__TARGET__STATE__STATE_CRASHED || s->exit_signal || s->exit_status || s->oom_killed)
                return END_BADLY;
        if (s->state == HW__TARGET__STATE__STATE_ENDED)
                return END_WELL;
        return s->state == HW__TARGET__STATE__STATE_FAILED ? END_UNKNOWN : END_RUNS;
}

/* ------------------------------------------------------------------- parts */

static char *safe(char *out, size_t size, const char *text)
{
        (void)hw_terminal_text(out, size, text);
        return out;
}

static void print_end(FILE *to, const struct world_target *t)
{
        static const char *const words[] = { "still runs; what follows is as of now", "ended", "ended badly",
                                             "how it ended is not known" };
        char at[HW_NUMBER_MAX], age[HW_NUMBER_MAX], detail[512];
        const Hw__Target *s = t->target;

        (void)fprintf(to, "%s, run %u: %s", t->name, t->run, words[account_end(t)]);
        if (s && s->detail && *s->detail)
                (void)fprintf(to, ": %s", safe(detail, sizeof(detail), s->detail));
        (void)fprintf(to, "\n  after   %s", hw_duration_text(age, sizeof(age), (double)t->event_time_ns));
        if (s && account_end(t) != END_RUNS && s->has_state_since_wall_ns)
                (void)fprintf(to, ", at %s", hw_time_text(at, sizeof(at), s->state_since_wall_ns));
        (void)fputc('\n', to);
        if (s && s->oom_killed)
                (void)fputs("  kernel  killed a process of its control group for memory\n", to);
}

static void print_amount(FILE *to, const char **comma, const char *name, bool known, uint64_t bytes)
{
        char text[HW_NUMBER_MAX];

        if (!known)
                return;
        (void)fprintf(to, "%s%s %s", *comma, name, hw_bytes_text(text, sizeof(text), (double)bytes));
        *comma = ", ";
}

/* The lowest known limit, and whose it is. */
static bool limit_of(const struct world_target *t, uint64_t *ret_bytes, const char **ret_whose)
{
        const Hw__TimeToLimit *l = t->trend_state ? t->trend_state->time_to_limit : NULL;
        static const char *const whose[] = { "", "control group", "-M", "physical memory", "--limit" };

        if (!l || !l->has_limit_bytes)
                return false;
        *ret_bytes = l->limit_bytes;
        *ret_whose = l->source > 0 && l->source < 5 ? whose[l->source] : "";
        return true;
}

static void print_memory(FILE *to, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;
        const char *comma = "", *whose;
        char text[HW_NUMBER_MAX];
        uint64_t limit;

        if (!h)
                return;
        (void)fputs("  memory  ", to);
        print_amount(to, &comma, "live", h->has_live_bytes, h->live_bytes);
        print_amount(to, &comma, "heap", h->has_heap_size_bytes, h->heap_size_bytes);
        print_amount(to, &comma, "resident", h->process && h->process->has_rss_bytes,
                     h->process ? h->process->rss_bytes : 0);
        print_amount(to, &comma, "control group", h->process && h->process->has_cgroup_current_bytes,
                     h->process ? h->process->cgroup_current_bytes : 0);
        print_amount(to, &comma, "most live", h->has_max_live_bytes, h->max_live_bytes);
        if (limit_of(t, &limit, &whose))
                (void)fprintf(to, "; limit %s (%s)", hw_bytes_text(text, sizeof(text), (double)limit), whose);
        (void)fputs(*comma ? "\n" : "not known\n", to);
}

static void print_answers(FILE *to, const struct answers *a)
{
        char time[HW_NUMBER_MAX], whole[2 * ANSWER_TEXT], text[2 * ANSWER_TEXT];

        for (int q = QUESTION_WRONG; q < QUESTIONS; q++) {
                const struct target_answer *answer = &a->answer[q];
                if (!answer->text[0] && !answer->after[0])
                        continue;
                hw_duration_text(time, sizeof(time), (double)answer->time_ns);
                answer_whole(whole, sizeof(whole), answer, time);
                (void)fprintf(to, "  %-7s %s\n", question_key((enum target_question)q),
                              safe(text, sizeof(text), whole));
        }
        for (size_t i = 0; i < a->n_caveats; i++)
                (void)fprintf(to, "  %-7s %s\n", i ? "" : "but", safe(text, sizeof(text), a->caveats[i]));
}

/* Bands by what they gained since their first census, largest first. Returns how many. */
static size_t grown_bands(const struct world_target *t, const struct world_band *grown[BANDS])
{
        size_t n = 0;

        for (uint32_t i = 0; i < t->n_bands; i++) {
                const struct world_band *b = t->bands[i];
                if (!b || !b->seen || b->bytes <= b->first_bytes)
                        continue;
                size_t at = n < BANDS ? n++ : BANDS;
                for (; at > 0 && grown[at - 1]->bytes - grown[at - 1]->first_bytes < b->bytes - b->first_bytes; at--)
                        if (at < BANDS)
                                grown[at] = grown[at - 1];
                if (at < BANDS)
                        grown[at] = b;
        }
        return n;
}

static void print_bands(FILE *to, const struct world_target *t)
{
        const struct world_band *grown[BANDS];
        char gained[HW_NUMBER_MAX], now[HW_NUMBER_MAX], label[2 * LABEL];
        size_t n = grown_bands(t, grown);

        for (size_t i = 0; i < n; i++)
                (void)fprintf(to, "  %-7s +%s to %s  %.*s\n", i ? "" : "bands",
                              hw_bytes_text(gained, sizeof(gained), (double)(grown[i]->bytes - grown[i]->first_bytes)),
                              hw_bytes_text(now, sizeof(now), (double)grown[i]->bytes), LABEL,
                              safe(label, sizeof(label), grown[i]->def->label));
}

static void print_notes(FILE *to, const struct world_target *t)
{
        uint64_t first = t->notes_last > NOTES ? t->notes_last - NOTES + 1 : 1;
        char time[HW_NUMBER_MAX], text[256];
        const char *head = "said";

        for (uint64_t number = first; t->notes_last && number <= t->notes_last; number++) {
                const Hw__Note *note = world_note(t, number);
                if (!note || !note->text || note->what == HW__NOTE__WHAT__WHAT_THREAD_LABEL)
                        continue;
                (void)fprintf(to, "  %-7s %s  %s\n", head, hw_duration_text(time, sizeof(time), (double)note->time_ns),
                              safe(text, sizeof(text), note->text));
                head = "";
        }
}

static void print_collections(FILE *to, const struct world_target *t)
{
        char share[HW_NUMBER_MAX], run[HW_NUMBER_MAX];
        const Hw__Gc *gc = t->gc;

        if (!gc || !gc->has_gc_share)
                return;
        (void)fprintf(to, "  pauses  %s of the last 10 s of events in collections",
                      hw_share_text(share, sizeof(share), gc->gc_share));
        if (gc->has_gc_share_run)
                (void)fprintf(to, ", %s of the run", hw_share_text(run, sizeof(run), gc->gc_share_run));
        (void)fputc('\n', to);
}

static void print_stream(FILE *to, const struct world_target *t)
{
        const Hw__Health *h = t->health;
        char lost[HW_NUMBER_MAX], events[HW_NUMBER_MAX];

        if (!h)
                return;
        (void)fprintf(to, "  stream  %s events", hw_count_text(events, sizeof(events), h->events));
        if (h->lost_bytes || h->resyncs)
                (void)fprintf(to, ", %s lost in %llu damaged places",
                              hw_bytes_text(lost, sizeof(lost), (double)h->lost_bytes), (unsigned long long)h->resyncs);
        else
                (void)fputs(", nothing lost", to);
        if (h->recording && h->recording->active)
                (void)fprintf(to, "; recorded%s", h->recording->lost_bytes ? " in part" : "");
        (void)fputc('\n', to);
}

void account_text(FILE *to, const struct world_target *t, bool live)
{
        struct answers a;

        answers_of(&a, t, live);
        print_end(to, t);
        print_memory(to, t);
        print_answers(to, &a);
        print_bands(to, t);
        print_notes(to, t);
        print_collections(to, t);
        print_stream(to, t);
}

/* -------------------------------------------------------------------- JSON */

static void json_amount(struct json_out *j, const char *key, bool known, uint64_t bytes)
{
        if (!known)
                return;
        json_key(j, key);
        json_u64(j, bytes);
}

static void json_memory(struct json_out *j, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;
        const Hw__Process *p = h ? h->process : NULL;
        const char *whose;
        uint64_t limit = 0;
        bool has_limit = limit_of(t, &limit, &whose);

        json_key(j, "memory");
        json_open(j, '{');
        json_amount(j, "liveBytes", h && h->has_live_bytes, h ? h->live_bytes : 0);
        json_amount(j, "maxLiveBytes", h && h->has_max_live_bytes, h ? h->max_live_bytes : 0);
        json_amount(j, "heapBytes", h && h->has_heap_size_bytes, h ? h->heap_size_bytes : 0);
        json_amount(j, "rssBytes", p && p->has_rss_bytes, p ? p->rss_bytes : 0);
        json_amount(j, "cgroupBytes", p && p->has_cgroup_current_bytes, p ? p->cgroup_current_bytes : 0);
        json_amount(j, "limitBytes", has_limit, limit);
        json_close(j, '}');
}

static void json_bands(struct json_out *j, const struct world_target *t)
{
        const struct world_band *grown[BANDS];
        size_t n = grown_bands(t, grown);

        json_key(j, "bands");
        json_open(j, '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_key(j, "label"), json_text(j, grown[i]->def->label);
                json_key(j, "firstBytes"), json_u64(j, grown[i]->first_bytes);
                json_key(j, "bytes"), json_u64(j, grown[i]->bytes);
                json_close(j, '}');
        }
        json_close(j, ']');
}

void account_json(FILE *to, const struct world_target *t, bool live)
{
        static const char *const words[] = { "runs", "ended", "badly", "unknown" };
        struct json_out out = { .to = to }, *j = &out;
        char time[HW_NUMBER_MAX], whole[2 * ANSWER_TEXT];
        struct answers a;

        answers_of(&a, t, live);
        json_open(j, '{');
        json_key(j, "target"), json_text(j, t->name);
        json_key(j, "run"), json_u64(j, t->run);
        json_key(j, "end"), json_text(j, words[account_end(t)]);
        json_key(j, "detail"), json_text(j, t->target ? t->target->detail : NULL);
        json_key(j, "lengthNs"), json_u64(j, t->event_time_ns);
        json_memory(j, t);
        json_key(j, "answers");
        json_open(j, '{');
        for (int q = 0; q < QUESTIONS; q++) {
                hw_duration_text(time, sizeof(time), (double)a.answer[q].time_ns);
                json_key(j, question_key((enum target_question)q));
                json_text(j, answer_whole(whole, sizeof(whole), &a.answer[q], time));
        }
        json_close(j, '}');
        json_bands(j, t);
        json_amount(j, "lostBytes", t->health != NULL, t->health ? t->health->lost_bytes : 0);
        json_close(j, '}');
        json_newline(j);
}
