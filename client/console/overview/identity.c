/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity.c - the head of the overview: name, state, run, age; whether its memory grows, with what matters first;
 * compiler and flags; why it is in this state; the growth in a sentence.
 */
#include "client/console/overview/sections.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/console/scene/trends.h"
#include "heapwatch/text.h"

#define LINE 1024

static bool has_detail(const struct world_target *t)
{
        return t->target && t->target->detail && t->target->detail[0];
}

enum { SENTENCE_ROWS = 3 };

static bool is_growing(const struct world_target *t)
{
        const Hw__Trend *trend = target_trend(t);

        return trend_known(trend) && trend->verdict != HW__VERDICT__VERDICT_STEADY && trend->has_slope;
}

static int sentence_rows(const struct world_target *t, int width)
{
        char safe[LINE];
        const char *rest = growth_sentence(t) ? safe_text(safe, sizeof(safe), growth_sentence(t)) : "";
        int rows = 0;

        for (; *rest && rows < SENTENCE_ROWS; rows++)
                rest += text_wrap(rest, width - 2);
        return rows;
}

int identity_rows(const struct scene *s, const struct world_target *t, int width)
{
        (void)s;
        return 2 + is_growing(t) + has_detail(t) + sentence_rows(t, width);
}

/* "leak: +912 KiB/s since 5m 00s, main:Main.CartItem, limit in 42m": what is cut off at the right matters least. */
static void draw_growing(struct canvas *c, struct area area, int row, const struct world_target *t)
{
        const Hw__Trend *trend = target_trend(t);
        const Hw__Growth *growth = t->trend_state ? t->trend_state->growth : NULL;
        const Hw__TimeToLimit *limit = t->trend_state ? t->trend_state->time_to_limit : NULL;
        char line[LINE], text[SHORT_TEXT], label[SHORT_TEXT];
        int n;

        n = snprintf(line, sizeof(line), "%s: %s%.40s", trend_verdict(trend).text, trend->slope > 0 ? "+" : "",
                     hw_rate_text(text, sizeof(text), trend->slope));
        if (trend->has_onset_ns)
                n += snprintf(line + n, sizeof(line) - (size_t)n, " since %.40s",
                              hw_duration_text(text, sizeof(text), (double)trend->onset_ns));
        if (growth && growth->n_bands && growth->bands[0]->label)
                n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.100s",
                              safe_text(label, area.width < 80 ? 24 : 60, growth->bands[0]->label));
        if (limit && limit->has_mid_ns)
                (void)snprintf(line + n, sizeof(line) - (size_t)n, ", limit in %.40s",
                               hw_duration_text(text, sizeof(text), (double)limit->mid_ns));
        (void)canvas_put(c, area, row, 1, area.width - 2, trend_tint(trend), line);
}

static void draw_sentence(struct canvas *c, struct area area, int row, const struct world_target *t)
{
        char safe[LINE], part[LINE];
        const char *rest = safe_text(safe, sizeof(safe), growth_sentence(t));

        for (int i = 0; *rest && i < SENTENCE_ROWS; i++) {
                size_t n = i + 1 < SENTENCE_ROWS ? text_wrap(rest, area.width - 2) : strlen(rest);

                (void)snprintf(part, sizeof(part), "%.*s", (int)n, rest);
                (void)canvas_put(c, area, row + i, 1, area.width - 2, trend_tint(target_trend(t)), part);
                rest += n;
        }
}

/* Appends one fact to a line of facts, with a dot between. */
static void fact(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fact(char *line, const char *format, ...)
{
        size_t n = strlen(line);
        va_list ap;

        if (n > 0 && n < LINE)
                n += (size_t)snprintf(line + n, LINE - n, " · ");
        if (n >= LINE)
                return;
        va_start(ap, format);
        (void)vsnprintf(line + n, LINE - n, format, ap);
        va_end(ap);
}

static const char *const breakdowns[] = { NULL, "-hc", "-hm", "-hd", "-hy", "-hr", "-hb", "-hT", "-hi", "-he" };

static void run_facts(char *line, const Hw__Run *run)
{
        char text[SHORT_TEXT];

        if (run->program)
                fact(line, "%s", safe_text(text, sizeof(text), run->program));
        if (run->has_pid)
                fact(line, "pid %u", run->pid);
        if (run->ghc_version)
                fact(line, "GHC %s", safe_text(text, sizeof(text), run->ghc_version));
        if (run->has_threaded)
                fact(line, "%s", run->threaded ? "threaded" : "not threaded");
        if (run->has_capabilities)
                fact(line, "%u %s", run->capabilities, run->capabilities == 1 ? "capability" : "capabilities");
        if (run->has_breakdown && run->breakdown > 0 &&
            (size_t)run->breakdown < sizeof(breakdowns) / sizeof(breakdowns[0]))
                fact(line, "%s", breakdowns[run->breakdown]);
}

static void draw_facts(struct canvas *c, struct area area, int row, const struct world_target *t)
{
        char line[LINE] = "", text[SHORT_TEXT];

        if (t->target && t->target->run_info)
                run_facts(line, t->target->run_info);
        if (t->target && t->target->uri)
                fact(line, "%s", safe_text(text, sizeof(text), t->target->uri));
        (void)canvas_put(c, area, row, 1, area.width - 2, TINT_DIM, line);
}

static int draw_state(struct canvas *c, struct area area, int column, const struct world_target *t)
{
        enum tint tint = state_tint(t);

        column += canvas_put(c, area, 0, column, 2, tint, tint == TINT_GOOD ? "● " : "○ ");
        return column + canvas_put(c, area, 0, column, 12, tint, state_word(t));
}

void draw_identity(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        char text[SHORT_TEXT], safe[LINE];
        uint64_t age_ns;
        int column = 1, row = 1;

        column += canvas_put(c, area, 0, column, area.width - 40, TINT_STRONG, safe_text(safe, sizeof(safe), t->name));
        column = draw_state(c, area, column + 2, t) + 2;
        if (t->run) {
                (void)snprintf(safe, sizeof(safe), "run %u  %s %s", t->run, s->live ? "up" : "lasted",
                               duration_or_unknown(text, t->event_time_ns > 0, scene_now_ns(s, t)));
                column += canvas_put(c, area, 0, column, area.width - column - 1, TINT_PLAIN, safe) + 2;
        }
        if (scene_stale(s, t, &age_ns)) {
                (void)snprintf(safe, sizeof(safe), "STALE %s", age_text(text, sizeof(text), age_ns));
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_BAD, safe);
        } else if (s->endpoint && area.width - column > 20) {
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_DIM,
                                       safe_text(safe, sizeof(safe), s->endpoint(s->endpoint_ctx, t->daemon)));
        }
        if (is_growing(t))
                draw_growing(c, area, row++, t);
        draw_facts(c, area, row++, t);
        if (has_detail(t))
                (void)canvas_put(c, area, row++, 1, area.width - 2, state_tint(t) == TINT_BAD ? TINT_BAD : TINT_PLAIN,
                                 safe_text(safe, sizeof(safe), t->target->detail));
        if (growth_sentence(t))
                draw_sentence(c, area, row, t);
}
