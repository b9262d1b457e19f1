/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.c - which program it is: name, state, run and age; further down compiler and flags. */
#include "client/console/overview/sections.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/array.h"

#define LINE 1024

int facts_rows(const struct scene *s, const struct world_target *t, int width)
{
        return t->target != NULL;
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
        if (run->program)
                fact(line, "%s", SAFE_TEXT(SHORT_TEXT, run->program));
        if (run->has_pid)
                fact(line, "pid %u", run->pid);
        if (run->ghc_version)
                fact(line, "GHC %s", SAFE_TEXT(SHORT_TEXT, run->ghc_version));
        if (run->has_threaded)
                fact(line, "%s", run->threaded ? "threaded" : "not threaded");
        if (run->has_capabilities)
                fact(line, "%u %s", run->capabilities, run->capabilities == 1 ? "capability" : "capabilities");
        if (run->has_breakdown && run->breakdown > 0 && (size_t)run->breakdown < ARRAY_SIZE(breakdowns))
                fact(line, "%s", breakdowns[run->breakdown]);
}

void draw_facts(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        char line[LINE] = "", text[SHORT_TEXT];

        if (t->target && t->target->run_info)
                run_facts(line, t->target->run_info);
        for (size_t i = 0; t->target && i < t->target->n_labels; i++)
                fact(line, "%s", safe_text(text, sizeof(text), t->target->labels[i]));
        if (t->target && t->target->uri)
                fact(line, "%s", safe_text(text, sizeof(text), t->target->uri));
        (void)canvas_put(c, area, 0, 1, area.width - 2, TINT_DIM, line);
}

void draw_identity(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        char text[SHORT_TEXT], safe[LINE];
        const enum tint tint = state_tint(t);
        uint64_t age_ns;
        int column = 1;

        column += canvas_put(c, area, 0, column, area.width - 40, TINT_STRONG, safe_text(safe, sizeof(safe), t->name)) +
                  2;
        column += canvas_put(c, area, 0, column, 2, tint, tint == TINT_GOOD ? "● " : "○ ");
        column += canvas_put(c, area, 0, column, 12, tint, state_word(t)) + 2;
        if (t->run) {
                (void)snprintf(safe, sizeof(safe), "run %u  %s %s", t->run, scene_over(s, t) ? "lasted" : "up",
                               duration_or_unknown(text, t->event_time_ns > 0, world_known_until_ns(t)));
                column += canvas_put(c, area, 0, column, area.width - column - 1, TINT_PLAIN, safe) + 2;
        }
        if (scene_stale(s, t, &age_ns)) {
                (void)snprintf(safe, sizeof(safe), "STALE %s", age_text(text, sizeof(text), age_ns));
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_BAD, safe);
        } else if (s->endpoint && area.width - column > 20) {
                (void)canvas_put_right(c, area, 0, column, area.width - column - 1, TINT_DIM,
                                       safe_text(safe, sizeof(safe), s->endpoint(s->endpoint_ctx, t->daemon)));
        }
}
