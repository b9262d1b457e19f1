/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all texts of an alert are one block of memory: an array of pairs and
 * the characters behind it. They are written into a scratch buffer first, whose
 * size bounds an alert's texts, then copied.
 */
#include "daemon/judge/rules/alerts_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/rules/rule.h"
#include "proto/base/ckd.h"
#include "proto/base/process.h"
#include "proto/base/rate.h"
#include "proto/base/text_out.h"
#include "heapwatch/text.h"
#include "daemon/judge/rules/eval.h"

#define PLACE_MAX RULE_WORDS_MAX

/* Empty places: what is not known. */
struct writer {
        const struct alert *alert;
        const struct rule_data *data;
        const struct rule_moment *at;
        struct headline headline;
        struct trend_result trend;
        bool has_trend;
        char places[PLACES][PLACE_MAX];
};

static void clean_band(char out[BAND_TEXT_MAX], const char *text)
{
        (void)hw_utf8_clean(out, BAND_TEXT_MAX, text ? text : "", text ? strlen(text) : 0);
}

void alert_text_band(const struct rule_data *data, uint32_t band, struct alert_band *ret)
{
        struct band_texts texts;
        bool known = data->band(data->ctx, band, &texts);

        clean_band(ret->label, known && texts.of[BAND_LABEL] ? texts.of[BAND_LABEL] : "(without a name)");
        clean_band(ret->source, known ? texts.of[BAND_SOURCE] : NULL);
        clean_band(ret->name, known ? texts.of[BAND_NAME] : NULL);
}

/* -------------------------------------------------------------------- places */

static void put_placeholder(struct writer *w, enum placeholder p, const char *text)
{
        text_join(w->places[p], PLACE_MAX, text, NULL);
}

static void put_value(struct writer *w, enum placeholder p, bool known, double value)
{
        char text[TYPE_VALUE_MAX];

        if (known && !isnan(value))
                put_placeholder(w, p, type_value_text(w->headline.type, value, text));
}

static void put_slope(struct writer *w)
{
        const struct trend_result *t = &w->trend;
        char text[RATE_WITHIN_MAX];

        if (w->has_trend && t->has_slope)
                put_placeholder(w, PLACE_SLOPE,
                                rate_within_text(text, rate_unit_within(t->slope, t->slope_low, t->slope_high),
                                                 t->slope, t->slope_low, t->slope_high));
}

static void put_since(struct writer *w)
{
        uint64_t now = w->alert->rule->of_target ? w->at->target_ns : w->at->time_ns;
        char text[HW_NUMBER_MAX];

        put_placeholder(w, PLACE_SINCE,
                        hw_duration_text(text, sizeof(text), (double)sub_sat(now, w->alert->state.active_ns)));
}

/* "2026-11-25T23:31:26Z (14m ago)", or the latter alone while the run's Unix time is not known. */
static void put_moment(struct writer *w, enum placeholder place, uint64_t time_ns)
{
        const uint64_t ago_ns = sub_sat(w->at->time_ns, time_ns);
        char ago[HW_NUMBER_MAX], wall[HW_NUMBER_MAX];

        (void)hw_duration_text(ago, sizeof(ago), (double)ago_ns);
        if (w->at->wall_ns == UNKNOWN_U64 || w->at->wall_ns < ago_ns)
                text_join(w->places[place], PLACE_MAX, ago, " ago", NULL);
        else
                text_join(w->places[place], PLACE_MAX, hw_time_text(wall, sizeof(wall), w->at->wall_ns - ago_ns), " (",
                          ago, " ago)", NULL);
}

/* The onset and the note nearest to it; without an onset, the note nearest to now. */
static void put_onset(struct writer *w)
{
        bool known = w->has_trend && w->trend.onset_ns != UNKNOWN_U64;
        uint64_t onset = known ? w->trend.onset_ns : w->at->time_ns, note_ns;
        char ago[HW_NUMBER_MAX];

        if (known)
                put_moment(w, PLACE_ONSET, onset);
        const char *note = onset == UNKNOWN_U64 ? NULL : w->data->note(w->data->ctx, onset, &note_ns);
        if (!note) {
                put_placeholder(w, PLACE_NOTE, "none near it");
                return;
        }
        char safe[256];
        hw_utf8_clean(safe, sizeof(safe), note, strlen(note));
        hw_duration_text(ago, sizeof(ago), (double)sub_sat(w->at->time_ns, note_ns));
        text_join(w->places[PLACE_NOTE], PLACE_MAX, "\"", safe, "\" (", ago, " ago)", NULL);
}

static void put_words(struct writer *w, enum placeholder p, enum rule_words what)
{
        w->data->words(w->data->ctx, what, w->headline.subject, w->places[p]);
}

static void fill_places(struct writer *w, const char *target)
{
        put_placeholder(w, PLACE_TARGET, target);
        put_placeholder(w, PLACE_BAND, w->alert->band_label ? w->alert->band_label : "");
        put_placeholder(w, PLACE_SOURCE, w->alert->band_source ? w->alert->band_source : "");
        put_value(w, PLACE_VALUE, w->headline.has_value, w->headline.value);
        put_value(w, PLACE_THRESHOLD, w->headline.has_threshold, w->headline.threshold);
        put_slope(w);
        put_since(w);
        put_onset(w);
        put_words(w, PLACE_TIME_TO_LIMIT, WORDS_TIME_TO_LIMIT);
        put_words(w, PLACE_WHERE, WORDS_WHERE);
        put_words(w, PLACE_VERDICT, WORDS_VERDICT);
        put_words(w, PLACE_SIZING, WORDS_SIZING);
        put_words(w, PLACE_RUNS_OUT, WORDS_RUNS_OUT);
        put_words(w, PLACE_THREADS, WORDS_THREADS);
        put_words(w, PLACE_REASON, WORDS_REASON);
}

/* ------------------------------------------------------------------ sentence */

/* The summary of the rule's author where there is one, else expression and numbers. */
static void write_sentence(const struct writer *w, const char *const values[PLACES], char *out, size_t size)
{
        const struct rule *rule = w->alert->rule;
        char words[EXPR_TEXT_MAX];
        struct text_out o;

        for (size_t i = 0; i < rule->text.n_annotations; i++) {
                if (strcmp(rule->text.annotations[i].name, "summary") != 0)
                        continue;
                template_expand(rule->text.annotations[i].value, values, out, size);
                return;
        }
        (void)expr_explain(&rule->expr, words, sizeof(words)); /* may be cut */
        text_out_init(&o, out, size);
        text_put(&o, words);
        if (w->headline.has_value && !isnan(w->headline.value)) {
                text_put(&o, ": it is ");
                text_put(&o, values[PLACE_VALUE]);
        }
}

/* --------------------------------------------------------------------- block */

bool alert_text_keep(struct alert *alert, const char *const *texts, size_t n)
{
        size_t n_pairs = (n - TEXTS_BEFORE) / 2, size = n_pairs * sizeof(struct rule_pair);
        const char *own[TEXTS_MAX];

        for (size_t i = 0; i < n; i++)
                size += strlen(texts[i]) + 1;
        struct rule_pair *pairs = malloc(size + 1);
        if (!pairs)
                return false;
        char *at = (char *)(pairs + n_pairs);
        for (size_t i = 0; i < n; i++) {
                size_t length = strlen(texts[i]) + 1;
                memcpy(at, texts[i], length);
                own[i] = at;
                at += length;
        }
        for (size_t i = 0; i < n_pairs; i++)
                pairs[i] = (struct rule_pair){ own[TEXTS_BEFORE + 2 * i], own[TEXTS_BEFORE + 2 * i + 1] };
        free(alert->memory);
        alert->memory = pairs;
        alert->value_text = own[0][0] ? own[0] : NULL;
        alert->threshold_text = own[1][0] ? own[1] : NULL;
        alert->sentence = own[2];
        alert->annotations = pairs;
        alert->n_annotations = n_pairs;
        return true;
}

uint32_t alert_text_list(const struct alert *alert, const char *ret[TEXTS_MAX])
{
        uint32_t n = TEXTS_BEFORE;

        ret[0] = alert->value_text ? alert->value_text : "";
        ret[1] = alert->threshold_text ? alert->threshold_text : "";
        ret[2] = alert->sentence ? alert->sentence : "";
        for (size_t i = 0; i < alert->n_annotations; i++) {
                ret[n++] = alert->annotations[i].name;
                ret[n++] = alert->annotations[i].value;
        }
        return n;
}

void alert_text_end_run(struct alert *alert)
{
        const char *texts[TEXTS_MAX];
        const uint32_t n = alert_text_list(alert, texts);
        char sentence[ALERT_TEXT_MAX];

        texts[2] = text_join(sentence, sizeof(sentence), texts[2], "; then the run ended", NULL);
        (void)alert_text_keep(alert, texts, n); /* without memory: as it was */
}

void alert_text_refresh(struct alert *alert, const char *target, const struct rule_data *data,
                        const struct rule_moment *at)
{
        size_t n = alert->rule->text.n_annotations;
        struct writer *w = calloc(1, sizeof(*w));
        char(*filled)[ALERT_TEXT_MAX] = malloc((n + 1) * sizeof(*filled));
        const char *values[PLACES], *texts[TEXTS_MAX];

        if (!w || !filled)
                goto out;
        w->alert = alert;
        w->data = data;
        w->at = at;
        expr_headline(&alert->rule->expr, data, at, alert->band, &w->headline);
        w->has_trend = w->headline.subject_has_verdict && data->trend(data->ctx, w->headline.subject, &w->trend);
        fill_places(w, target);
        for (unsigned i = 0; i < PLACES; i++)
                values[i] = w->places[i][0] ? w->places[i] : NULL;
        write_sentence(w, values, filled[n], sizeof(filled[n]));
        texts[0] = values[PLACE_VALUE] ? values[PLACE_VALUE] : "";
        texts[1] = values[PLACE_THRESHOLD] ? values[PLACE_THRESHOLD] : "";
        texts[2] = filled[n];
        for (size_t i = 0; i < n; i++) {
                template_expand(alert->rule->text.annotations[i].value, values, filled[i], sizeof(filled[i]));
                texts[TEXTS_BEFORE + 2 * i] = alert->rule->text.annotations[i].name;
                texts[TEXTS_BEFORE + 2 * i + 1] = filled[i];
        }
        if (alert_text_keep(alert, texts, TEXTS_BEFORE + 2 * n)) {
                alert->has_value = texts[0][0] != '\0';
                alert->value = alert->has_value ? w->headline.value : (double)NAN;
        }
out:
        free(filled);
        free(w);
}
