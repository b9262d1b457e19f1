/* SPDX-License-Identifier: BSD-3-Clause */
/* trend_rows.c - DESIGN: one row for each judged series or band; unknown numbers are dashes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "client/world/state/band_name.h"
#include "client/commands/trend.h"
#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/nearest.h"
#include "proto/base/rate.h"
#include "proto/base/utf8.h"

#define NAME_COLUMNS 28
#define MOMENT_MAX   (2 * HW_NUMBER_MAX + 4)

static const char *verdict_word(const Hw__Trend *t)
{
        static const char *const words[] = { "unknown", "steady", "growing", "LEAK", "rising" };

        const unsigned word = t->has_word ? (unsigned)t->word : (unsigned)t->verdict;

        return t->has_verdict && word < ARRAY_SIZE(words) ? words[word] : "–";
}

static const char *format_rate(char out[HW_NUMBER_MAX], struct rate_unit unit, bool known, double v)
{
        return known ? rate_text(out, HW_NUMBER_MAX, unit, v) : "–";
}

static const char *format_amount(char out[HW_NUMBER_MAX], bool known, double v)
{
        return known ? hw_bytes_text(out, HW_NUMBER_MAX, v) : "–";
}

static const char *format_duration(char out[HW_NUMBER_MAX], bool known, uint64_t ns)
{
        return known ? hw_duration_text(out, HW_NUMBER_MAX, (double)ns) : "–";
}

/* At least one column apart. */
static void print_cell(FILE *to, const char *text, int columns)
{
        int pad = columns - text_columns(text);

        fprintf(to, "%*s%s", pad > 1 ? pad : 1, "", text);
}

/* The time of day first, as elsewhere; without the program's start the time into the run alone. */
static const char *format_moment(char out[MOMENT_MAX], const struct world_target *t, bool known, uint64_t time_ns)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        char into[HW_NUMBER_MAX];

        if (!known)
                return "–";
        (void)hw_duration_text(into, sizeof(into), (double)time_ns);
        if (!run || !run->has_start_wall_ns || time_ns > UINT64_MAX - run->start_wall_ns)
                (void)snprintf(out, MOMENT_MAX, "%s", into);
        else
                (void)snprintf(out, MOMENT_MAX, "%s (%s)", TIME_TEXT(run->start_wall_ns + time_ns), into);
        return out;
}

/* What a row says of its growth: by the verdict, or of a rise that this does not know of yet. */
struct growth_row {
        const char *word;
        bool has_slope, has_low, has_high, has_gained, has_span;
        double slope, low, high, gained;
        uint64_t span_ns;
        char since[sizeof("before ") + MOMENT_MAX];
};

static struct growth_row growth_by_verdict(const struct world_target *of, const Hw__Trend *t)
{
        struct growth_row row = {
                .word = verdict_word(t),
                .has_slope = t->has_slope,
                .has_low = t->has_slope_low,
                .has_high = t->has_slope_high,
                .has_gained = t->has_gained_low_bytes,
                .has_span = t->evidence && t->evidence->has_span_ns,
                .slope = t->slope,
                .low = t->slope_low,
                .high = t->slope_high,
                .gained = t->gained_low_bytes,
                .span_ns = t->evidence ? t->evidence->span_ns : 0,
        };
        const Hw__TrendScale *scale = of->trend_state ? of->trend_state->scale : NULL;
        const Hw__Run *run = of->target ? of->target->run_info : NULL;
        const uint64_t first_ns = run && run->has_first_time_ns ? run->first_time_ns : 0;
        const uint64_t step_ns = scale ? scale->resolution_ns : 0;
        /* It is exact to a step of the verdict, unless its own error is less: one in the first step is the start. */
        const bool is_start = t->has_onset_ns && first_ns < step_ns && t->onset_ns < step_ns &&
                              (!t->has_onset_error_ns || t->onset_error_ns >= step_ns);
        char text[MOMENT_MAX];

        (void)snprintf(row.since, sizeof(row.since), "%s",
                       is_start ? "the start of the run" : format_moment(text, of, t->has_onset_ns, t->onset_ns));
        return row;
}

static const Hw__EarlyWarning *rise_now(const struct world_target *t)
{
        const Hw__EarlyWarning *e = t->trend_state ? t->trend_state->early : NULL;

        return e && e->rising ? e : NULL;
}

static struct growth_row growth_now(const struct world_target *of, const Hw__Trend *t)
{
        const Hw__EarlyWarning *rise = rise_now(of);
        struct growth_row row = growth_by_verdict(of, t);

        if (!rise || !t->has_word || t->word != HW__WORD__WORD_RISING)
                return row;
        if (t->has_series && rise->has_series && t->series == rise->series) {
                const uint64_t began_ns = onset_moment(rise);
                char text[MOMENT_MAX];

                row = (struct growth_row){ .word = verdict_word(t),
                                           .has_slope = rise->has_rate,
                                           .has_low = rise->has_rate_low,
                                           .has_high = rise->has_rate_high,
                                           .has_gained = rise->has_base_bytes && rise->has_level_bytes,
                                           .has_span = rise->has_until_ns && rise->has_onset_to_ns,
                                           .slope = rise->rate,
                                           .low = rise->rate_low,
                                           .high = rise->rate_high,
                                           .gained = rise->level_bytes - rise->base_bytes,
                                           .span_ns = sub_sat(rise->until_ns, began_ns) };
                (void)snprintf(row.since, sizeof(row.since), "%s%s", onset_is_latest(rise) ? "before " : "",
                               format_moment(text, of, rise->has_onset_to_ns, began_ns));
        }
        for (size_t i = 0; t->has_band && i < rise->n_bands; i++) {
                const Hw__GrowingBand *gain = rise->bands[i];
                if (!gain->has_band || gain->band != t->band)
                        continue;
                row.has_gained = gain->has_gained_bytes;
                row.gained = (double)gain->gained_bytes;
                break;
        }
        return row;
}

/* `band`: NULL for a series. What its name does not say comes last, where nothing has to be aligned. */
static void print_row(FILE *to, const struct world_target *of, struct rate_unit unit, const char *name,
                      const Hw__Band *band, const Hw__Trend *t, bool has_now, double now)
{
        char fitted[256 + sizeof("…")], place[BAND_PLACE_MAX];
        char text[HW_NUMBER_MAX];
        const struct growth_row row = growth_now(of, t);

        (void)fit_label(fitted, sizeof(fitted), SAFE_TEXT(256, name), NAME_COLUMNS);
        fprintf(to, "  %s%*s", fitted, NAME_COLUMNS - text_columns(fitted), "");
        fprintf(to, "  %-7s", row.word);
        print_cell(to, format_amount(text, has_now, now), 12);
        print_cell(to, format_rate(text, unit, row.has_slope, row.slope), 14);
        print_cell(to, format_rate(text, unit, row.has_low, row.low), 14);
        print_cell(to, format_rate(text, unit, row.has_high, row.high), 14);
        print_cell(to, format_amount(text, row.has_gained, row.gained), 12);
        print_cell(to, format_duration(text, row.has_span, row.span_ns), 10);
        fprintf(to, "  %s", row.since);
        if (t->has_verdict && t->verdict == HW__VERDICT__VERDICT_STEADY && t->has_slope_low && t->slope_low > 0 &&
            t->evidence && t->evidence->missing) /* a slope above 0 beside "steady" would contradict it */
                fprintf(to, "  %.100s", t->evidence->missing);
        if (band_place(place, sizeof(place), band)[0])
                fprintf(to, "  %s", SAFE_TEXT(BAND_PLACE_MAX, place));
        fputc('\n', to);
}

/* -------------------------------------------------------------- windows */

static void print_window(FILE *to, struct rate_unit unit, const Hw__WindowStatistics *w, bool bytes)
{
        char text[HW_NUMBER_MAX];
        const struct {
                bool known;
                double v;
        } values[] = {
                { w->has_min, w->min }, { w->has_mean, w->mean }, { w->has_stddev, w->stddev },
                { w->has_p50, w->p50 }, { w->has_p99, w->p99 },   { w->has_max, w->max },
        };

        fprintf(to, "    %-8s ", w->has_window_ns ? format_duration(text, true, w->window_ns) : "run");
        print_cell(to, hw_count_text(text, sizeof(text), w->has_count ? w->count : 0), 8);
        for (size_t i = 0; i < ARRAY_SIZE(values); i++)
                print_cell(to,
                           bytes ? format_amount(text, values[i].known, values[i].v)
                                 : format_duration(text, values[i].known, u64_sat(values[i].v)),
                           11);
        print_cell(to, bytes ? format_rate(text, unit, w->has_slope, w->slope) : "–", 14);
        if (w->has_fit)
                fprintf(to, "  %.3f\n", w->fit);
        else
                fputs("  –\n", to);
}

static void print_windows(FILE *to, struct rate_unit unit, const Hw__Trend *t, bool bytes)
{
        fprintf(to, "    %-8s %8s%11s%11s%11s%11s%11s%11s%14s  %s\n", "window", "samples", "least", "mean", "stddev",
                "p50", "p99", "most", "slope", "fit");
        for (size_t i = 0; i < t->n_windows; i++)
                print_window(to, unit, t->windows[i], bytes);
}

/* --------------------------------------------------------------- series */

static void print_series(FILE *to, struct rate_unit unit, const struct world_target *t, const struct trend_show *show)
{
        for (size_t i = 1; i < SERIES_COUNT; i++) {
                const Hw__Trend *trend = t->trends[i];
                double now = 0;
                if (!trend || (!trend->has_verdict && !show->windows))
                        continue;
                bool bytes = !strcmp(hw_series_unit((Hw__Series)i), "B"),
                     has_now = bytes && world_newest(t, (Hw__Series)i, &now);
                for (size_t k = trend->n_windows; bytes && !has_now && k-- > 0;) {
                        has_now = trend->windows[k]->has_last;
                        now = trend->windows[k]->last;
                }
                print_row(to, t, unit, hw_series_name((Hw__Series)i), NULL, trend, has_now, now);
                if (show->windows)
                        print_windows(to, unit, trend, bytes);
        }
}

/* ---------------------------------------------------------------- bands */

static enum trend_order order_now; /* qsort has no context */

static double band_gain(const struct world_band *b)
{
        return b->trend->has_gained_low_bytes ? b->trend->gained_low_bytes : -INFINITY;
}

static double band_slope(const struct world_band *b)
{
        return b->trend->has_slope ? b->trend->slope : -INFINITY;
}

static int compare_descending(double a, double b)
{
        return (a < b) - (a > b);
}

static int compare_bands(const void *left, const void *right)
{
        const struct world_band *a = *(const struct world_band *const *)left;
        const struct world_band *b = *(const struct world_band *const *)right;
        int order = 0;

        if (order_now == ORDER_GAINED)
                order = compare_descending(a->trend->verdict, b->trend->verdict);
        if (!order && order_now == ORDER_GAINED)
                order = compare_descending(band_gain(a), band_gain(b));
        else if (order_now == ORDER_SLOPE)
                order = compare_descending(band_slope(a), band_slope(b));
        else if (order_now == ORDER_SIZE)
                order = compare_descending((double)a->bytes, (double)b->bytes);
        else if (order_now == ORDER_NAME)
                order = strcmp(a->def->label, b->def->label);
        if (!order) /* not judged yet, or alike: the largest first */
                order = compare_descending((double)a->bytes, (double)b->bytes);
        return order ? order : a->id < b->id ? -1 : 1;
}

static void print_bands(FILE *to, struct rate_unit unit, const struct world_target *t, const struct trend_show *show)
{
        const struct world_band **bands = calloc(t->n_bands + 1u, sizeof(*bands));
        char text[HW_NUMBER_MAX];
        double uncounted;
        size_t n = 0;

        for (uint32_t i = 0; bands && i < t->n_bands; i++)
                if (t->bands[i] && t->bands[i]->trend)
                        bands[n++] = t->bands[i];
        order_now = show->order;
        ARRAY_SORT(bands, n, compare_bands);
        for (size_t i = 0; i < n && i < show->bands; i++) {
                print_row(to, t, unit, bands[i]->def->label, bands[i]->def, bands[i]->trend,
                          !isnan(world_band_bytes(t, bands[i])), world_band_bytes(t, bands[i]));
                if (show->windows)
                        print_windows(to, unit, bands[i]->trend, true);
        }
        if (n > show->bands)
                fprintf(to, "  ... and %zu more bands (--bands N)\n", n - show->bands);
        if (census_uncounted(t, &uncounted))
                fprintf(to, "  %-*s  %-7s%12s\n", NAME_COLUMNS, UNCOUNTED_NAME, "–",
                        format_amount(text, true, uncounted));
        free(bands);
}

/* --------------------------------------------------------------- target */

static void print_sentence(FILE *to, const char *label, const char *text)
{
        if (text)
                fprintf(to, "  %-6s %s\n", label, SAFE_TEXT(2048, text));
}

/* In the words of all faces. */
static void print_answer(FILE *to, const struct world_target *t, const struct answers *answers, enum target_question q)
{
        char whole[2 * ANSWER_TEXT + ANSWER_MOMENT], moment[ANSWER_MOMENT];
        const struct target_answer *a = &answers->answer[q];

        print_sentence(to, question_key(q),
                       answer_whole(whole, sizeof(whole), a, answer_moment(moment, t, a->time_ns)));
}

/* A cgroup that the program shares is not judged: its memory is not the program's. */
static void print_cgroup(FILE *to, const struct world_target *t)
{
        const Hw__Process *p = t->heap ? t->heap->process : NULL;
        char text[HW_NUMBER_MAX];

        if (!p || !p->has_cgroup_shared || !p->cgroup_shared)
                return;
        fprintf(to, "  cgroup %s is shared with other processes: its %s are not judged\n",
                SAFE_TEXT(256, p->cgroup && p->cgroup[0] ? p->cgroup : "its control group"),
                format_amount(text, p->has_cgroup_current_bytes, (double)p->cgroup_current_bytes));
}

/* With those of one more row. */
static double greatest_of(double greatest, const Hw__Trend *t)
{
        if (t && t->has_slope)
                greatest = rate_greater(greatest, t->slope);
        if (t && t->has_slope_low)
                greatest = rate_greater(greatest, t->slope_low);
        if (t && t->has_slope_high)
                greatest = rate_greater(greatest, t->slope_high);
        return greatest;
}

/* One unit for all rows and their intervals, so that they can be compared. */
static struct rate_unit unit_of_rows(const struct world_target *t)
{
        double greatest = 0;

        for (size_t i = 0; i < SERIES_COUNT; i++)
                if (i != HW__SERIES__SERIES_CGROUP) /* may be shared */
                        greatest = greatest_of(greatest, t->trends[i]);
        const Hw__EarlyWarning *rise = rise_now(t);
        if (rise && rise->has_rate)
                greatest = rate_greater(greatest, rise->has_rate_high ? rise->rate_high : rise->rate);
        for (uint32_t i = 0; i < t->n_bands; i++)
                greatest = greatest_of(greatest, t->bands[i] ? t->bands[i]->trend : NULL);
        return rate_unit(greatest);
}

/* Of when live data is, where it was not measured lately: what the rows show as now is of then. */
static void print_live_age(FILE *to, const struct world_target *t, bool live)
{
        char line[128];
        uint64_t age_ns;

        if (!live_is_old(t, &age_ns))
                return;
        (void)snprintf(line, sizeof(line), "live data was measured %s%s %s",
                       t->gc && t->gc->counted ? "" : "by the last major collection, ", /* from outside, by either */
                       DURATION_TEXT(age_ns), world_is_over(t, live) ? "before the end" : "ago");
        print_sentence(to, "age", line);
}

/* What a line of the list is made of. */
struct line {
        const struct world_target *t;
        struct answers answers;
};

static int compare_lines(const void *left, const void *right)
{
        const struct line *a = left, *b = right;
        const int order = compare_descending(a->answers.rank, b->answers.rank);

        return order ? order : name_order(a->t->name, b->t->name, false);
}

static void print_line(FILE *to, const struct line *l, int name_columns, int word_columns)
{
        const struct answers *a = &l->answers;
        char text[3 * ANSWER_TEXT + ANSWER_MOMENT], moment[ANSWER_MOMENT], safe[2048];

        if (answers_grow(a)) {
                (void)answers_growth(text, sizeof(text), a, answer_moment(moment, l->t, a->onset_ns));
        } else {
                const struct target_answer *wrong = &a->answer[QUESTION_WRONG];

                (void)answer_whole(text, sizeof(text), wrong, answer_moment(moment, l->t, wrong->time_ns));
                const size_t n = strlen(text);
                if (a->ended_rising && a->has_onset) /* its sentence says how long that lasted, not since when */
                        (void)snprintf(text + n, sizeof(text) - n, "; the rise began %s%s",
                                       a->onset_is_latest ? "before " : "at ",
                                       answer_moment(moment, l->t, a->onset_ns));
        }
        (void)safe_text(safe, sizeof(safe), l->t->name);
        fprintf(to, "%s%*s  %-*s  ", safe, name_columns - text_columns(safe), "", word_columns, a->word);
        fprintf(to, "%s\n", safe_text(safe, sizeof(safe), text));
}

void trend_list(FILE *to, const struct world_target *const *all, size_t n, bool live)
{
        struct line *lines = calloc(n ? n : 1, sizeof(*lines));
        int name_columns = 0, word_columns = 0;
        char safe[2048];

        for (size_t i = 0; lines && i < n; i++) {
                lines[i].t = all[i];
                answers_brief(&lines[i].answers, all[i], live);
                const int columns = text_columns(safe_text(safe, sizeof(safe), all[i]->name));
                const int word = (int)strlen(lines[i].answers.word);
                name_columns = columns > name_columns ? columns : name_columns;
                word_columns = word > word_columns ? word : word_columns;
        }
        if (!lines)
                return;
        qsort(lines, n, sizeof(*lines), compare_lines);
        for (size_t i = 0; i < n; i++)
                print_line(to, &lines[i], name_columns, word_columns);
        free(lines);
}

/* Where memory grows by the verdicts; a rise that had none is said as on all faces: "not known" would contradict it. */
static void print_where(FILE *to, const struct world_target *t, const struct answers *answers, bool over)
{
        const Hw__Trends *s = t->trend_state;

        if (over && answers->verdict == HW__VERDICT__VERDICT_STEADY)
                return; /* "wrong" has just said so */
        if (over && s->growth && !s->growth->where && s->early && s->early->has_series)
                print_answer(to, t, answers, QUESTION_WHERE);
        else if (s->growth && (s->growth->where || over))
                print_sentence(to, "where", s->growth->sentence);
}

void trend_text(FILE *to, const struct world_target *t, const struct trend_show *show)
{
        struct rate_unit unit = unit_of_rows(t);
        const Hw__Trends *s = t->trend_state;
        const Hw__Trend *live = t->trends[HW__SERIES__SERIES_LIVE];
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        char sync[SYNC_TEXT], line[CENSUS_LINE];
        struct census_age age;
        struct answers answers;

        answers_of(&answers, t, show->live);
        fprintf(to, "%s, run %u: %s", t->name, t->run, answers.word);
        if (run && run->program && run->program[0] && strcmp(run->program, t->name) != 0)
                fprintf(to, " (%s)", SAFE_TEXT(256, run->program));
        fputc('\n', to);
        print_answer(to, t, &answers, QUESTION_WRONG);
        if (!s)
                return;
        print_where(to, t, &answers, world_is_over(t, show->live));
        if (!s->early ||
            !world_is_over(t, show->live)) /* else it was met, or nearly, and the next line says how it was */
                print_sentence(to, "limit", s->time_to_limit ? s->time_to_limit->sentence : NULL);
        if (s->early)
                print_answer(to, t, &answers, QUESTION_UNTIL);
        print_sentence(to, "live", live ? live->sentence : NULL);
        print_live_age(to, t, show->live);
        print_sentence(to, "memory", t->heap && t->heap->resident ? t->heap->resident->text : NULL);
        if (t->gc && t->gc->n_generations && !(facts_get(t, FACT_GC_SYNC) <= 0))
                print_sentence(to, "waits", answers_sync_text(sync, sizeof(sync), t));
        print_answer(to, t, &answers, QUESTION_SINCE);
        print_answer(to, t, &answers, QUESTION_GROWS);
        if (answers.answer[QUESTION_WHY].text[0])
                print_answer(to, t, &answers, QUESTION_WHY);
        print_sentence(to, "scale", s->scale ? s->scale->sentence : NULL);
        census_age_of(&age, t, !world_is_over(t, show->live));
        if (age.any)
                print_sentence(to, "bands", census_age_text(line, sizeof(line), &age, world_known_until_ns(t)));
        for (size_t i = 0; i < answers.n_caveats; i++)
                print_sentence(to, "but", answers.caveats[i]);
        fprintf(to, "\n  %-*s  %-7s%12s%14s%14s%14s%12s%10s  %s\n", NAME_COLUMNS, "", "verdict",
                world_is_over(t, show->live) ? "at end" : "now", "slope", "at least", "at most", "gained >=", "over",
                "since");
        print_series(to, unit, t, show);
        print_bands(to, unit, t, show);
        print_cgroup(to, t);
        if (s->has_bands_left_out && s->bands_left_out)
                fprintf(to, "  %llu bands are not judged: beyond the daemon's limit\n",
                        (unsigned long long)s->bands_left_out);
        if (s->has_late_samples && s->late_samples)
                fprintf(to, "  %llu samples came too late to be judged\n", (unsigned long long)s->late_samples);
}
