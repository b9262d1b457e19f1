/* SPDX-License-Identifier: BSD-3-Clause */
/* made_up.h - synthetic data for rules: series, verdicts, facts, bands; and the alerts that result. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/judge/rules/data.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "proto/base/process.h"
#include "daemon/judge/rules/alerts.h"

#define S          UINT64_C(1000000000)
#define MIB        1048576.0
#define MADE_BANDS 5

struct made_up {
        struct series series[RULE_SERIES_COUNT];
        bool born[RULE_SERIES_COUNT];
        double facts[RULE_SERIES_COUNT];
        struct trend_result trends[RULE_SERIES_COUNT];
        bool has_trend[RULE_SERIES_COUNT];
        double bands[MADE_BANDS + 1]; /* newest bytes; NaN: none */
        enum trend_verdict band_verdicts[MADE_BANDS + 1];
        const char *labels[MADE_BANDS + 1], *names[MADE_BANDS + 1], *sources[MADE_BANDS + 1];
        uint32_t n_bands;
        uint64_t began_ns;
        const char *note;
};

static inline bool made_span(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        struct made_up *m = ctx;

        return s.id != RULE_BAND && m->born[s.id] && history_span(&m->series[s.id], range, ret);
}

static inline bool made_newest(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret)
{
        struct made_up *m = ctx;

        if (s.id == RULE_BAND) {
                *ret = (struct trend_cell){ .cell.last = m->bands[s.band] };
                return !isnan(m->bands[s.band]);
        }
        return m->born[s.id] && history_newest(&m->series[s.id], before_ns, ret);
}

static inline bool made_oldest(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        struct made_up *m = ctx;

        return s.id != RULE_BAND && m->born[s.id] && history_oldest(&m->series[s.id], range, ret);
}

static inline double made_integral(void *ctx, struct rule_subject s, struct time_range range)
{
        struct made_up *m = ctx;

        return m->born[s.id] ? history_integral(&m->series[s.id], range) : (double)NAN;
}

/* As of samples that lie evenly. */
static inline double made_quantile(void *ctx, struct rule_subject s, struct time_range range, double q)
{
        struct trend_cell b;

        return made_span(ctx, s, range, &b) ? b.cell.min + q * (b.cell.max - b.cell.min) : (double)NAN;
}

static inline double made_fact(void *ctx, enum rule_series id, const struct rule_moment *at)
{
        return ((struct made_up *)ctx)->facts[id];
}

static inline bool made_trend(void *ctx, struct rule_subject s, struct trend_result *ret)
{
        struct made_up *m = ctx;

        if (s.id == RULE_BAND && s.band > MADE_BANDS)
                return false;
        if (s.id == RULE_BAND) {
                *ret = (struct trend_result){ .verdict = m->band_verdicts[s.band], .onset_ns = UINT64_MAX };
                return true;
        }
        *ret = m->trends[s.id];
        return m->has_trend[s.id];
}

static inline enum trend_verdict made_word(void *ctx, struct rule_subject s)
{
        struct trend_result r;

        return made_trend(ctx, s, &r) ? r.verdict : TREND_UNKNOWN;
}

/* Nothing is known to stay. */
static inline uint64_t made_still(void *ctx, struct rule_subject s, struct time_range range, bool verdict)
{
        return 0;
}

static inline uint64_t made_began(void *ctx, bool of_target)
{
        return ((struct made_up *)ctx)->began_ns;
}

static inline uint32_t made_count(void *ctx)
{
        return ((struct made_up *)ctx)->n_bands;
}

static inline bool made_band(void *ctx, uint32_t id, struct band_texts *ret)
{
        struct made_up *m = ctx;

        if (id < 1 || id > m->n_bands)
                return false;
        memset(ret->of, 0, sizeof(ret->of));
        ret->of[BAND_LABEL] = m->labels[id];
        ret->of[BAND_NAME] = m->names[id];
        ret->of[BAND_SOURCE] = m->sources[id];
        return true;
}

static inline void made_words(void *ctx, enum rule_words what, struct rule_subject s, char out[RULE_WORDS_MAX])
{
        snprintf(out, RULE_WORDS_MAX, "%s", what == WORDS_WHERE ? "in live data" : "");
}

static inline const char *made_note(void *ctx, uint64_t time_ns, uint64_t *ret_time_ns)
{
        *ret_time_ns = time_ns;
        return ((struct made_up *)ctx)->note;
}

static inline struct made_up *made_up_new(void)
{
        struct made_up *m = calloc(1, sizeof(*m));

        for (unsigned i = 0; i < RULE_SERIES_COUNT; i++)
                m->facts[i] = (double)NAN;
        for (unsigned i = 0; i <= MADE_BANDS; i++)
                m->bands[i] = (double)NAN;
        return m;
}

static inline void made_up_free(struct made_up *m)
{
        for (unsigned i = 0; i < RULE_SERIES_COUNT; i++)
                if (m->born[i])
                        series_done(&m->series[i]);
        free(m);
}

static inline void made_push(struct made_up *m, unsigned id, uint64_t time_ns, double value)
{
        m->born[id] = true;
        assert_int_equal(series_push(&m->series[id], &series_shape, time_ns, value), 0);
}

static inline void made_verdict(struct made_up *m, unsigned id, enum trend_verdict verdict, double slope)
{
        m->has_trend[id] = true;
        m->trends[id] = (struct trend_result){ .verdict = verdict,
                                               .has_slope = true,
                                               .slope = slope,
                                               .slope_low = slope / 2,
                                               .slope_high = slope * 2,
                                               .onset_ns = UINT64_MAX };
}

static inline struct rule_data made_data(struct made_up *m)
{
        return (struct rule_data){
                .ctx = m,
                .span = made_span,
                .newest = made_newest,
                .oldest = made_oldest,
                .integral = made_integral,
                .quantile = made_quantile,
                .fact = made_fact,
                .verdict = made_word,
                .trend = made_trend,
                .still_ns = made_still,
                .began_ns = made_began,
                .bands = made_count,
                .band = made_band,
                .words = made_words,
                .note = made_note,
        };
}

static inline struct rule_moment made_at(uint64_t seconds)
{
        return (struct rule_moment){
                .time_ns = seconds * S, .target_ns = seconds * S, .wall_ns = (1000 + seconds) * S, .run = 1
        };
}

/* Everything that was reported, as "rule/band state@second " in one text. */
struct told {
        char text[8192];
};

static inline void on_changed(void *ctx, const struct alert *alert, const struct rule_moment *at)
{
        struct told *t = ctx;
        size_t used = strlen(t->text);

        snprintf(t->text + used, sizeof(t->text) - used, "%s%s%s %s@%d ", alert->rule->name,
                 alert->band_label ? "/" : "", alert->band_label ? alert->band_label : "",
                 alert_state_name(alert->state.now), at->time_ns == UNKNOWN_U64 ? -1 : (int)(at->time_ns / S));
}

static inline void to_stderr(void *ctx, const char *line)
{
        fprintf(stderr, "%s\n", line);
}

/* A ruleset of one text without the pack. */
static inline struct ruleset *rules_of(const char *text)
{
        static const struct error_sink says = { .say = to_stderr };
        struct ruleset *set = rules_load_text("test", text, &says);

        assert_non_null(set);
        return set;
}
