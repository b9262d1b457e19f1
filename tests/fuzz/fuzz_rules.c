/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule files and expressions as a user may write them. The first byte chooses:
 * an expression, or a whole file. What is accepted prints, reads back as the
 * same, can be put in words and evaluated; a refusal has a reason.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/rules/eval.h"
#include "daemon/watch/rule_file/rulebook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ------------------------------------------------- data of which nothing is known */

static bool no_span(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ 0 };
        return false;
}

static bool one_sample(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ .cell = { .min = 5, .max = 5, .last = 5, .last_ns = before_ns / 2 } };
        return true;
}

static double no_area(void *ctx, struct rule_subject s, struct time_range range)
{
        return (double)NAN;
}

static double no_quantile(void *ctx, struct rule_subject s, struct time_range range, double q)
{
        if (!(q >= 0 && q <= 1))
                abort();
        return no_area(ctx, s, range);
}

static double some_fact(void *ctx, enum rule_series id, const struct rule_moment *at)
{
        return id % 2;
}

static enum trend_verdict no_verdict(void *ctx, struct rule_subject s)
{
        return TREND_UNKNOWN;
}

static bool no_trend(void *ctx, struct rule_subject s, struct trend_result *ret)
{
        return false;
}

static uint64_t still(void *ctx, struct rule_subject s, struct time_range range, bool verdict)
{
        return verdict ? range.to_ns : range.from_ns;
}

static uint64_t began(void *ctx, bool of_target)
{
        return of_target;
}

static bool a_band(void *ctx, uint32_t id, struct band_texts *ret)
{
        for (unsigned i = 0; i < BAND_TEXTS; i++)
                ret->of[i] = i % 2 ? NULL : "Main.retain";
        return true;
}

static void judge(const struct expr *e)
{
        struct rule_data data = { .span = no_span,
                                  .newest = one_sample,
                                  .oldest = no_span,
                                  .integral = no_area,
                                  .quantile = no_quantile,
                                  .fact = some_fact,
                                  .verdict = no_verdict,
                                  .trend = no_trend,
                                  .still_ns = still,
                                  .began_ns = began,
                                  .band = a_band };
        struct rule_moment at = { .time_ns = 1000, .target_ns = 1000, .wall_ns = 1000, .run = 1 };
        struct headline headline;
        uint64_t still_ns = UINT64_MAX;
        double v = expr_eval(e, &data, &at, e->of_bands, &still_ns);

        if (!(isnan(v) || v == 0 || v == 1))
                abort();
        (void)expr_selects_band(e, &data, 1);
        expr_headline(e, &data, &at, e->of_bands, &headline);
}

/* ----------------------------------------------------------------------- the two */

static void expression(const char *text)
{
        static char printed[4 * EXPR_TEXT_MAX], again[4 * EXPR_TEXT_MAX], words[16 * EXPR_TEXT_MAX];
        struct expr_error error = { .column = 0 };
        struct expr e, f;

        if (!expr_parse(text, &e, &error)) {
                if (error.column == 0 || error.text[0] == '\0')
                        abort();
                return;
        }
        if (!expr_print(&e, printed, sizeof(printed)))
                abort();
        if (strlen(printed) <= EXPR_TEXT_MAX) {
                if (!expr_parse(printed, &f, &error) || !expr_print(&f, again, sizeof(again)) ||
                    strcmp(printed, again) != 0 || f.of_bands != e.of_bands || f.of_target != e.of_target)
                        abort();
                expr_destroy(&f);
        }
        (void)expr_explain(&e, words, sizeof(words));
        judge(&e);
        expr_destroy(&e);
}

static void say(void *ctx, const char *line)
{
        *(bool *)ctx |= line[0] != '\0';
}

static void file(const char *text)
{
        bool said = false;
        struct error_sink says = { .say = say, .ctx = &said };
        struct ruleset *rules = rules_load_text("fuzz", text, &says);

        if (!rules != said)
                abort();
        ruleset_destroy(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *text;

        if (size == 0)
                return 0;
        text = malloc(size);
        if (!text)
                return 0;
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        if (data[0] % 2)
                expression(text);
        else
                file(text);
        free(text);
        return 0;
}
