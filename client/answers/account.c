/* SPDX-License-Identifier: BSD-3-Clause */
/* account.c - a post-mortem: how a run ended, its memory then, the answers, and the facts behind them. */
#include "client/answers/answers.h"

#include <math.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "proto/base/ckd.h"
#include "proto/base/number_text.h"
#include "proto/wire/words.h"

#define LABEL 60 /* bytes of a band's label that are shown */

/* An empty row under this key; the last one once there are too many, which does not happen: see ACCOUNT_ROWS. */
static struct target_answer *add_row(struct account *a, const char *key, enum answer_tone tone)
{
        struct account_row *r = &a->rows[a->n < ACCOUNT_ROWS ? a->n++ : ACCOUNT_ROWS - 1];

        *r = (struct account_row){ .key = key, .says = { .tone = tone } };
        return &r->says;
}

/* A row of what the table says, if anything; rows of the account are under the keys of the table. */
static void add_sentence(struct account *a, const struct evidence *e, phrase_table *table)
{
        struct target_answer says = { .tone = ANSWER_DIM };
        const struct phrase_row *row = append_sentence(&says, e, table);

        if (!says.text[0] && !says.has_time)
                return;
        says.tone = (enum answer_tone)row->tone;
        *add_row(a, row->key, says.tone) = says;
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

bool ends_as(const struct evidence *e, enum account_end end)
{
        return account_end(e->t) == end;
}

/* ------------------------------------------------------------------ memory */

static Hw__TimeToLimit__Source limit_source(const struct world_target *t)
{
        return t->trend_state->has_limit_source ? t->trend_state->limit_source
                                                : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN;
}

bool account_limit(const struct world_target *t, uint64_t *ret_bytes, const char **ret_words)
{
        const Hw__Trends *s = t->trend_state;

        if (!s || !s->has_limit_bytes)
                return false;
        *ret_bytes = s->limit_bytes;
        *ret_words = limit_words(limit_source(t));
        return true;
}

/* Whether the limit is one of the heap alone. */
bool account_counts_heap(const struct world_target *t)
{
        return limit_counts_heap(limit_source(t));
}

bool account_used(const struct world_target *t, const char **ret_name, uint64_t *ret_bytes)
{
        if (!t->heap)
                return false;
        const enum fact counted = world_limit_counts(t);
        const double used = facts_get(t, counted);

        *ret_name = counted == FACT_CGROUP_HELD     ? "its control group"
                    : counted == FACT_HEAP_SIZE     ? "its heap"
                    : counted == FACT_ADDRESS_SPACE ? "its address space"
                    : counted == FACT_DATA          ? "its private memory"
                                                    : "it";
        *ret_bytes = isnan(used) ? 0 : u64_sat(used);
        return !isnan(used);
}

/* At the end of a program that ran out of heap the runtime has freed most of it. */
bool account_had_more(const struct evidence *e)
{
        const char *name;
        uint64_t used;

        return !ends_as(e, END_RUNS) && account_used(e->t, &name, &used) && account_counts_heap(e->t) &&
               e->t->heap->max_heap_size_bytes > used;
}

/* Of its limit, used most lately or at most; NaN: not known. */
double account_share(const struct evidence *e)
{
        const char *name;
        uint64_t limit, used;

        if (!account_limit(e->t, &limit, &name) || !limit || !account_used(e->t, &name, &used))
                return NAN;
        return (double)(account_had_more(e) ? e->t->heap->max_heap_size_bytes : used) / (double)limit;
}

bool account_is_limited(const struct world_target *t)
{
        return t->heap && t->trend_state && t->trend_state->has_limit_bytes && t->trend_state->limit_bytes;
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
        const size_t n = account_bands(t, grown);
        struct census_age age;
        char line[CENSUS_LINE], place[BAND_PLACE_MAX];

        census_age_of(&age, t, live);
        if (age.any)
                append_text(add_row(a, "census", age.stale ? ANSWER_WARN : ANSWER_DIM)->text, "%s",
                            census_age_text(line, sizeof(line), &age, world_known_until_ns(t)));
        for (size_t i = 0; i < n; i++) {
                struct target_answer *r = add_row(a, "bands", ANSWER_DIM);
                const char *label = grown[i]->def->label;
                char said[CONTENTS_TEXT], of[CONTENTS_TEXT];

                (void)band_said(said, sizeof(said), t, grown[i]->id, label);
                append_text(r->text, "+%s, has %s  %.*s%s%s", BYTES_TEXT(grown[i]->bytes - grown[i]->first_bytes),
                            BYTES_TEXT(grown[i]->bytes), LABEL, said, strlen(said) > LABEL ? "..." : "",
                            band_said_of(of, sizeof(of), t, grown[i]->id, label));
                if (band_place(place, sizeof(place), grown[i]->def)[0])
                        append_text(r->text, " (%s)", place);
        }
}

static struct target_answer *add_moment(struct account *a, const char *key, uint64_t time_ns)
{
        struct target_answer *r = add_row(a, key, ANSWER_DIM);

        r->has_time = true;
        r->time_ns = time_ns;
        return r;
}

/* By the program: a log from outside has lines of the inspector. */
static bool is_said(const struct world_target *t, const struct world_note *note)
{
        return note && note->has_text && note->what != HW__NOTE__WHAT__WHAT_THREAD_LABEL &&
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
                const struct world_note *note = world_note(t, numbers[--n]);
                append_text(add_moment(a, "said", note->time_ns)->after, "  %.200s", note->text);
        }
}

static void add_last_pauses(struct account *a, const struct evidence *e)
{
        for (size_t i = 0; e->t->gc && i < e->t->gc->n_last; i++) {
                const Hw__Collection *c = e->t->gc->last[i];
                const uint64_t pause_ns = c->has_watch_pause_ns ? c->watch_pause_ns : c->pause_ns;

                append_text(add_moment(a, "pauses", c->end_time_ns)->after, "  %s, generation %u%s%s",
                            DURATION_TEXT(pause_ns), c->generation, c->major ? ", major" : "",
                            c->has_watch_pause_ns ? ", for a census of heapwatch's" : "");
        }
}

/* ------------------------------------------------------------------ stream */

bool account_has_lost(const struct evidence *e)
{
        const Hw__Health *h = e->t->health;

        return h->lost_bytes || h->resyncs || h->gaps || h->late_samples || h->bands_left_out ||
               (e->t->target && e->t->target->passed_bytes);
}

void account_of(struct account *ret, const struct world_target *t, bool live)
{
        struct evidence e;

        evidence_of(&e, t, live);
        *ret = (struct account){ .end = account_end(t) };
        add_sentence(ret, &e, sentences_end);
        add_sentence(ret, &e, sentences_kernel);
        add_sentence(ret, &e, sentences_memory);
        add_sentence(ret, &e, sentences_resident);
        add_sentence(ret, &e, sentences_limit);
        add_answers(ret, t, live);
        add_bands(ret, t, live);
        add_notes(ret, t);
        add_sentence(ret, &e, sentences_collected);
        add_sentence(ret, &e, sentences_pauses);
        add_last_pauses(ret, &e);
        add_sentence(ret, &e, sentences_stream);
}
