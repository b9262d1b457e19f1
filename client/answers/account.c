/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/answers.h"

#include <math.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "proto/base/ckd.h"
#include "heapwatch/text.h"

#define LABEL 60 /* bytes of a band's label that are shown */

/* An empty row under this key; the last one once there are too many, which does not happen: see ACCOUNT_ROWS. */
static struct target_answer *add_row(struct account *a, const char *key, enum answer_tone tone)
{
        struct account_row *r = &a->rows[a->n < ACCOUNT_ROWS ? a->n++ : ACCOUNT_ROWS - 1];

        *r = (struct account_row){ .key = key, .says = { .tone = tone } };
        return &r->says;
}

static struct target_answer *row_at(struct account *a, const char *key, enum answer_tone tone, uint64_t time_ns)
{
        struct target_answer *r = add_row(a, key, tone);

        r->has_time = true;
        r->time_ns = time_ns;
        return r;
}

/* --------------------------------------------------------------------- end */

enum account_end account_end(const struct world_target *t)
{
        const Hw__Target *s = t->target;

        if (!s || s->state == HW__TARGET__STATE__STATE_LOST)
                return END_UNKNOWN;
        if (s->state == HW__TARGET__STATE__STATE_CRASHED || s->state == HW__TARGET__STATE__STATE_FAILED ||
            s->oom_killed)
                return END_BADLY;
        if (s->state == HW__TARGET__STATE__STATE_ENDED)
                return END_WELL;
        return s->state == HW__TARGET__STATE__STATE_UNREADABLE ? END_UNKNOWN : END_RUNS;
}

static void add_end(struct account *a, const struct world_target *t)
{
        static const char *const words[] = {
                [END_RUNS] = "still runs; what follows is as of now",
                [END_WELL] = "ended",
                [END_BADLY] = "ended badly",
                [END_UNKNOWN] = "how it ended is not known",
        };
        const Hw__Target *s = t->target;
        struct target_answer *r = add_row(a, "end", a->end == END_BADLY ? ANSWER_BAD : ANSWER_DIM);

        append_text(r->text, "%s", words[a->end]);
        if (s && s->detail && *s->detail)
                append_text(r->text, ": %.300s", s->detail);
        if (t->event_time_ns) {
                append_text(r->text, ", at ");
                r->has_time = true;
                r->time_ns = world_known_until_ns(t);
        } else if (a->end != END_RUNS) {
                append_text(r->text, ", before anything was read of it");
        }
        if (s && s->oom_killed)
                append_text(add_row(a, "kernel", ANSWER_BAD)->text, "killed a process of its control group for memory");
}

/* ------------------------------------------------------------------ memory */

bool account_limit(const struct world_target *t, uint64_t *ret_bytes, const char **ret_words)
{
        const Hw__Trends *s = t->trend_state;

        if (!s || !s->has_limit_bytes)
                return false;
        *ret_bytes = s->limit_bytes;
        *ret_words = limit_words(s->has_limit_source, s->limit_source);
        return true;
}

static void append_amount(char *text, const char *name, bool known, uint64_t bytes)
{
        if (!known)
                return;
        append_text(text, "%s%s ", text[0] ? ", " : "", name);
        append_bytes(text, bytes);
}

static Hw__TimeToLimit__Source limit_source(const struct world_target *t)
{
        return t->trend_state->has_limit_source ? t->trend_state->limit_source
                                                : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN;
}

/* Whether the limit is one of the heap alone. */
static bool heap_counts(const struct world_target *t)
{
        return limit_source(t) == HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP;
}

bool account_used(const struct world_target *t, const char **ret_name, uint64_t *ret_bytes)
{
        if (!t->heap)
                return false;
        const bool group =
                limit_source(t) == HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP && facts_is_known(t, FACT_CGROUP_HELD);
        const bool heap = heap_counts(t) || !facts_is_known(t, FACT_RESIDENT_HELD);
        const double used = facts_get(t, group ? FACT_CGROUP_HELD : heap ? FACT_HEAP_SIZE : FACT_RESIDENT_HELD);

        *ret_name = group ? "its control group" : heap ? "its heap" : "it";
        *ret_bytes = isnan(used) ? 0 : u64_sat(used);
        return !isnan(used);
}

static void add_limit(struct account *a, const struct world_target *t)
{
        const char *words, *name;
        char share[HW_NUMBER_MAX];
        uint64_t limit, used;

        if (!account_limit(t, &limit, &words) || !limit)
                return;
        if (!account_used(t, &name, &used)) {
                append_text(add_row(a, "limit", ANSWER_DIM)->text, "%s is ", words);
                append_bytes(a->rows[a->n - 1].says.text, limit);
                return;
        }
        const bool most = a->end != END_RUNS && heap_counts(t) && t->heap->max_heap_size_bytes > used;
        if (most) /* at the end of a program that ran out of heap the runtime has freed most of it */
                used = t->heap->max_heap_size_bytes;
        struct target_answer *r = add_row(a, "limit", used >= limit / 10 * 9 ? ANSWER_BAD : ANSWER_DIM);
        append_text(r->text, "%s %s %s%s of %s, ", name, a->end == END_RUNS ? "has" : "had", most ? "at most " : "",
                    hw_share_text(share, sizeof(share), (double)used / (double)limit), words);
        append_bytes(r->text, limit);
        if (heap_counts(t) && r->tone == ANSWER_DIM && t->target->exit_status == EXIT_HEAP_EXHAUSTED)
                append_text(r->text, "; the rest is held back by the runtime, to copy live data in a collection");
}

static void add_memory(struct account *a, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;

        if (!h)
                return;
        const Hw__Process *p = h->process;
        struct target_answer *r = add_row(a, "memory", ANSWER_DIM);
        append_amount(r->text, "live", h->has_live_bytes, h->live_bytes);
        if (a->end == END_RUNS)
                append_live_age(r->text, t);
        append_amount(r->text, "heap", h->has_heap_size_bytes, h->heap_size_bytes);
        append_amount(r->text, "resident", p && p->has_rss_bytes, p ? p->rss_bytes : 0);
        append_amount(r->text, "swapped", p && p->has_swap_bytes && p->swap_bytes, p ? p->swap_bytes : 0);
        append_amount(r->text, "control group", p && p->has_cgroup_current_bytes, p ? p->cgroup_current_bytes : 0);
        append_amount(r->text, "most live", h->has_max_live_bytes, h->max_live_bytes);
        if (!r->text[0])
                append_text(r->text, "not known");
        if (h->resident && h->resident->text && *h->resident->text)
                append_text(add_row(a, "memory", ANSWER_DIM)->text, "%.400s", h->resident->text);
        add_limit(a, t);
}

/* ----------------------------------------------------------------- answers */

static void add_answers(struct account *a, const struct world_target *t, bool live)
{
        struct answers answers;

        answers_of(&answers, t, live);
        for (int q = QUESTION_WRONG; q < QUESTIONS; q++)
                if (answers.answer[q].text[0] || answers.answer[q].after[0])
                        *add_row(a, question_key((enum target_question)q), ANSWER_DIM) = answers.answer[q];
        for (size_t i = 0; i < answers.n_caveats; i++)
                append_text(add_row(a, "but", ANSWER_WARN)->text, "%s", answers.caveats[i]);
}

/* ------------------------------------------------- bands, notes and pauses */

size_t account_bands(const struct world_target *t, const struct world_band *grown[ACCOUNT_BANDS])
{
        size_t n = 0;

        for (uint32_t i = 0; i < t->n_bands; i++) {
                const struct world_band *b = t->bands[i];
                if (!b || !b->seen || (double)b->bytes <= (double)b->first_bytes + census_margin_of_gain(t, b))
                        continue;
                size_t at = n < ACCOUNT_BANDS ? n++ : ACCOUNT_BANDS;
                for (; at > 0 && grown[at - 1]->bytes - grown[at - 1]->first_bytes < b->bytes - b->first_bytes; at--)
                        if (at < ACCOUNT_BANDS)
                                grown[at] = grown[at - 1];
                if (at < ACCOUNT_BANDS)
                        grown[at] = b;
        }
        return n;
}

static void add_bands(struct account *a, const struct world_target *t, bool live)
{
        const struct world_band *grown[ACCOUNT_BANDS];
        size_t n = account_bands(t, grown);
        struct census_age age;
        char line[CENSUS_LINE];

        census_age_of(&age, t, live);
        if (age.any)
                append_text(add_row(a, "census", age.stale ? ANSWER_WARN : ANSWER_DIM)->text, "%s",
                            census_age_text(line, sizeof(line), &age, world_known_until_ns(t)));
        for (size_t i = 0; i < n; i++) {
                struct target_answer *r = add_row(a, "bands", ANSWER_DIM);
                append_text(r->text, "+");
                append_bytes(r->text, grown[i]->bytes - grown[i]->first_bytes);
                append_text(r->text, ", has ");
                append_bytes(r->text, grown[i]->bytes);
                append_text(r->text, "  %.*s%s", LABEL, grown[i]->def->label,
                            strlen(grown[i]->def->label) > LABEL ? "..." : "");
                char place[BAND_PLACE_MAX];
                if (band_place(place, sizeof(place), grown[i]->def)[0])
                        append_text(r->text, " (%s)", place);
        }
}

/* By the program: a log from outside has lines of the inspector. */
static bool is_said(const struct world_target *t, const Hw__Note *note)
{
        return note && note->text && note->what != HW__NOTE__WHAT__WHAT_THREAD_LABEL &&
               (note->what != HW__NOTE__WHAT__WHAT_LOG || !world_from_outside(t));
}

static void add_notes(struct account *a, const struct world_target *t)
{
        uint64_t numbers[ACCOUNT_NOTES];
        size_t n = 0;

        for (uint64_t i = t->notes_last; i && i >= t->notes_first && n < ACCOUNT_NOTES; i--) {
                if (is_said(t, world_note(t, i)))
                        numbers[n++] = i;
        }
        while (n > 0) {
                const Hw__Note *note = world_note(t, numbers[--n]);
                append_text(row_at(a, "said", ANSWER_DIM, note->time_ns)->after, "  %.200s", note->text);
        }
}

static uint64_t longest_pause(const Hw__Gc *gc)
{
        uint64_t longest = 0;

        for (size_t i = 0; i < gc->n_generations; i++)
                if (gc->generations[i]->has_pause_max_ns && gc->generations[i]->pause_max_ns > longest)
                        longest = gc->generations[i]->pause_max_ns;
        return longest;
}

static void add_pauses(struct account *a, const struct world_target *t)
{
        const Hw__Gc *gc = t->gc;
        char share[HW_NUMBER_MAX], watching[CENSUS_LINE];

        if (gc && gc->counted && gc->n_generations)
                append_text(add_row(a, "collected", ANSWER_DIM)->text, "%s times, %s",
                            hw_count_text(share, sizeof(share), (uint64_t)facts_get(t, FACT_COLLECTIONS)),
                            world_untimed(t));
        if (!gc || (!gc->has_gc_share && !gc->has_gc_share_run && !gc->n_last))
                return;
        struct target_answer *r = add_row(a, "pauses", ANSWER_DIM);
        if (gc->has_gc_share && t->event_time_ns > 10 * NS_PER_S)
                append_text(r->text, "%s of the last 10 s of events",
                            hw_share_text(share, sizeof(share), gc->gc_share));
        if (gc->has_gc_share_run)
                append_text(r->text, "%s%s of the run", r->text[0] ? ", " : "",
                            hw_share_text(share, sizeof(share), gc->gc_share_run));
        if (longest_pause(gc)) {
                append_text(r->text, "%sthe longest ", r->text[0] ? "; " : "");
                append_duration(r->text, longest_pause(gc));
        }
        if (census_pauses_text(watching, sizeof(watching), t)[0] && gc->has_pause_total_ns) {
                append_text(r->text, "%s", r->text[0] ? "; in all " : "in all ");
                append_duration(r->text, gc->pause_total_ns);
                append_text(r->text, ", %s", watching);
        }
        for (size_t i = 0; i < gc->n_last; i++) {
                const Hw__Collection *c = gc->last[i];
                r = row_at(a, "pauses", ANSWER_DIM, c->end_time_ns);
                append_text(r->after, "  ");
                append_duration(r->after, c->has_watch_pause_ns ? c->watch_pause_ns : c->pause_ns);
                append_text(r->after, ", generation %u%s%s", c->generation, c->major ? ", major" : "",
                            c->has_watch_pause_ns ? ", for a census of heapwatch's" : "");
        }
}

/* ------------------------------------------------------------------ stream */

static void append_count(char *text, const char *one, const char *many, uint64_t n)
{
        char number[HW_NUMBER_MAX];

        if (n)
                append_text(text, ", %s %s", hw_count_text(number, sizeof(number), n), n == 1 ? one : many);
}

static void append_lost(char *text, const struct world_target *t)
{
        const Hw__Health *h = t->health;
        char number[HW_NUMBER_MAX];

        if (h->lost_bytes || h->resyncs) {
                append_text(text, ", ");
                append_bytes(text, h->lost_bytes);
                append_text(text, " lost in %s damaged %s", hw_count_text(number, sizeof(number), h->resyncs),
                            h->resyncs == 1 ? "place" : "places");
        }
        if (h->gaps) {
                append_text(text, ", ");
                append_duration(text, h->gap_ns);
                append_text(text, " not seen in %s %s", hw_count_text(number, sizeof(number), h->gaps),
                            h->gaps == 1 ? "gap" : "gaps");
        }
        if (t->target && t->target->passed_bytes) {
                append_text(text, ", ");
                append_bytes(text, t->target->passed_bytes);
                append_text(text, " passed over before it was joined");
        }
        append_count(text, "sample too late", "samples too late", h->late_samples);
        append_count(text, "band left out", "bands left out", h->bands_left_out);
}

static void add_stream(struct account *a, const struct world_target *t)
{
        const Hw__Health *h = t->health;
        char number[HW_NUMBER_MAX], lost[ANSWER_TEXT] = "";

        if (!h)
                return;
        append_lost(lost, t);
        struct target_answer *r = add_row(a, "stream", lost[0] ? ANSWER_WARN : ANSWER_DIM);
        append_text(r->text, "%s events%s", hw_count_text(number, sizeof(number), h->events),
                    lost[0] ? lost : ", nothing lost");
        if (h->recording && h->recording->bytes) {
                const uint64_t recorded = sub_sat(h->recording->bytes, h->recording->lost_bytes);
                if (recorded) {
                        append_text(r->text, "; recorded ");
                        append_bytes(r->text, recorded);
                }
                if (h->recording->lost_bytes) {
                        append_text(r->text, recorded ? ", not recorded " : "; not recorded: all ");
                        append_bytes(r->text, h->recording->lost_bytes);
                }
        }
}

void account_of(struct account *ret, const struct world_target *t, bool live)
{
        *ret = (struct account){ .end = account_end(t) };
        add_end(ret, t);
        add_memory(ret, t);
        add_answers(ret, t, live);
        add_bands(ret, t, live);
        add_notes(ret, t);
        add_pauses(ret, t);
        add_stream(ret, t);
}
