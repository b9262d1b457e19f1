/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.c - the head of the overview: name, state, run, age; compiler and flags; why it is in this state; whether
   its memory grows. */
#include "client/console/overview/sections.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/console/scene/trends.h"
#include "heapwatch/text.h"

#define LINE 512

static bool has_detail(const struct world_target *t)
{
        return t->target && t->target->detail && t->target->detail[0];
}

int identity_rows(const struct scene *s, const struct world_target *t, int width)
{
        (void)s;
        (void)width;
        return 2 + has_detail(t) + (growth_sentence(t) != NULL);
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

static void draw_facts(struct canvas *c, struct area area, const struct world_target *t)
{
        char line[LINE] = "", text[SHORT_TEXT];

        if (t->target && t->target->run_info)
                run_facts(line, t->target->run_info);
        if (t->target && t->target->uri)
                fact(line, "%s", safe_text(text, sizeof(text), t->target->uri));
        (void)canvas_put(c, area, 1, 1, area.width - 2, TINT_DIM, line);
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
        int column = 1;

        column += canvas_put(c, area, 0, column, area.width - 40, TINT_STRONG, safe_text(safe, sizeof(safe), t->name));
        column = draw_state(c, area, column + 2, t) + 2;
        if (t->run) {
                (void)snprintf(safe, sizeof(safe), "run %u  %s %s", t->run, s->live ? "up" : "lasted",
                               duration_or_unknown(text, t->event_time_ns > 0, scene_now_ns(s, t)));
                column += canvas_put(c, area, 0, column, area.width - column - 1, TINT_PLAIN, safe) + 2;
        }
        if (scene_stale(s, t, &age_ns)) {
                (void)snprintf(safe, sizeof(safe), "STALE %s", duration_or_unknown(text, true, age_ns));
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_BAD, safe);
        } else if (s->endpoint && area.width - column > 20) {
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_DIM,
                                       safe_text(safe, sizeof(safe), s->endpoint(s->endpoint_ctx, t->daemon)));
        }
        draw_facts(c, area, t);
        if (has_detail(t))
                (void)canvas_put(c, area, 2, 1, area.width - 2, state_tint(t) == TINT_BAD ? TINT_BAD : TINT_PLAIN,
                                 safe_text(safe, sizeof(safe), t->target->detail));
        if (growth_sentence(t)) {
                column = 1 + canvas_put(c, area, 2 + has_detail(t), 1, 9, TINT_DIM, "growth: ");
                (void)canvas_put(c, area, 2 + has_detail(t), column, area.width - column - 1,
                                 trend_tint(target_trend(t)), safe_text(safe, sizeof(safe), growth_sentence(t)));
        }
}
