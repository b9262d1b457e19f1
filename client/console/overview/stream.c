/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - whether the numbers above can be trusted: what was lost or late, and what flags would show more. */
#include "client/console/overview/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/console/draw/widgets.h"
#include "client/console/table/value.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"

static size_t n_advice(const struct world_target *t)
{
        return t->health ? t->health->n_advice : 0;
}

int stream_rows(const struct scene *s, const struct world_target *t, int width)
{
        int rows = 2;

        for (size_t i = 0; i < n_advice(t) && rows < 40; i++)
                rows += draw_lines(NULL, (struct area){ 0 }, 0, 0, width - 5, 40 - rows, TINT_WARN,
                                   t->health->advice[i]->text);
        return rows;
}

#define LONG_TURN_NS UINT64_C(100000000) /* no source was read and nobody answered for this long: worth mentioning */

/* "lost 0 B": quiet when nothing is wrong. */
static int figure(struct canvas *c, struct area area, int row, int column, const char *label, const char *value,
                  bool bad)
{
        if (column > 1)
                column += canvas_put(c, area, row, column, 3, TINT_DIM, " · ");
        column += canvas_put(c, area, row, column, area.width - column - 1, TINT_DIM, label);
        column += canvas_put(c, area, row, column, area.width - column - 1, bad ? TINT_BAD : TINT_PLAIN, value);
        return column;
}

/* A figure that is left out where it is nothing, or always shown; `least`: bad beyond that. */
struct stream_figure {
        const char *label;
        enum fact fact;
        bool always;
        double least;
};

static const struct stream_figure before_recording[] = {
        { "lost ", FACT_STREAM_LOST, true, 0 },
        { "late ", FACT_STREAM_LATE, true, 0 },
        { "lag ", FACT_STREAM_LAG, true, 10e9 },
        { "read ", FACT_STREAM_BYTES, true, INFINITY },
        { "passed over ", FACT_STREAM_PASSED, false, -1 },
        { "reconnects ", FACT_STREAM_RECONNECTS, false, 0 },
        { "not seen ", FACT_STREAM_GAP, false, 0 },
}, after_recording[] = {
        { "not recorded ", FACT_RECORD_LOST, false, 0 },
        { "damaged places ", FACT_STREAM_RESYNCS, false, 0 },
        { "unknown events ", FACT_STREAM_UNKNOWN, false, INFINITY },
        { "odd times ", FACT_STREAM_ANOMALIES, false, 0 },
};

static int draw_some(struct canvas *c, struct area area, int row, int column, const struct world_target *t,
                     const struct stream_figure *figures, size_t n)
{
        char text[SHORT_TEXT];

        for (size_t i = 0; i < n; i++) {
                const double value = facts_get(t, figures[i].fact);

                if (figures[i].always || value > 0)
                        column = figure(c, area, row, column, figures[i].label, facts_text(text, t, figures[i].fact),
                                        value > figures[i].least);
        }
        return column;
}

/* `turn`: the daemon's longest recent one, NULL when unknown. */
static void draw_figures(struct canvas *c, struct area area, int row, const struct world_target *t,
                         const Hw__LoopTurn *turn)
{
        const Hw__Recording *r = t->health->recording;
        char text[SHORT_TEXT];
        int column = draw_some(c, area, row, 1, t, before_recording, ARRAY_SIZE(before_recording));

        if (r && r->paused)
                column = figure(c, area, row, column, "recording ", "paused", true);
        else if (r && r->active)
                column = figure(c, area, row, column, "recorded ",
                                hw_bytes_text(text, sizeof(text), (double)(r->bytes - r->lost_bytes)), false);
        column = draw_some(c, area, row, column, t, after_recording, ARRAY_SIZE(after_recording));
        if (turn && turn->has_cpu_ns && turn->cpu_ns > LONG_TURN_NS)
                (void)figure(c, area, row, column, "daemon away ", duration_or_unknown(text, true, turn->cpu_ns), true);
}

/* Advice, wrapped; what does not fit is announced in the last row. */
static void draw_advice(struct canvas *c, struct area area, int row, const struct world_target *t)
{
        char text[1024], line[1024], more[64];

        for (size_t i = 0; i < n_advice(t); i++) {
                const char *rest = safe_text(text, sizeof(text), t->health->advice[i]->text);
                bool first = true;

                for (; *rest && row < area.height; row++, first = false) {
                        size_t n = text_wrap(rest, area.width > 12 ? area.width - 5 : 8);

                        (void)snprintf(line, sizeof(line), "%.*s", (int)n, rest);
                        (void)canvas_put(c, area, row, 1, 2, TINT_WARN, first ? "▸ " : "  ");
                        (void)canvas_put(c, area, row, 3, area.width - 4, TINT_WARN, line);
                        rest += n;
                }
                if (*rest || (row >= area.height && i + 1 < n_advice(t))) {
                        (void)snprintf(more, sizeof(more), " +%zu more ", n_advice(t) - i - !*rest);
                        (void)canvas_put_right(c, area, area.height - 1, 0, area.width - 1, TINT_DIM, more);
                        return;
                }
        }
}

void draw_stream(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        const struct world_daemon *d = world_daemon(s->world, t->daemon);
        int row = 0;

        if (area.height > 1)
                draw_title(c, area, row++, "Stream", "");
        if (!t->health) {
                (void)canvas_put(c, area, row, 1, area.width - 2, TINT_DIM,
                                 UNKNOWN_TEXT "  nothing is known of it yet");
                return;
        }
        draw_figures(c, area, row++, t, d && d->state ? d->state->recent_turn : NULL);
        draw_advice(c, area, row, t);
}
