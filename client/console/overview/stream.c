/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - whether the numbers above can be trusted: what was lost or late, and what flags would show more. */
#include "client/console/overview/sections.h"

#include <stdio.h>
#include <string.h>

#include "client/console/draw/widgets.h"
#include "heapwatch/text.h"

static size_t n_advice(const struct world_target *t)
{
        return t->health ? t->health->n_advice : 0;
}

/* Advice `i` as one safe text. */
static const char *advice_text(const struct world_target *t, size_t i, char *out, size_t size)
{
        return safe_text(out, size, t->health->advice[i]->text);
}

int stream_rows(const struct scene *s, const struct world_target *t, int width)
{
        char text[1024];
        int rows = 2;

        (void)s;
        for (size_t i = 0; i < n_advice(t) && rows < 40; i++) {
                const char *rest = advice_text(t, i, text, sizeof(text));

                while (*rest && rows < 40) {
                        rest += text_wrap(rest, width > 12 ? width - 5 : 8);
                        rows++;
                }
        }
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

static const char *count_or_unknown(char *out, bool known, uint64_t n)
{
        return known ? hw_count_text(out, SHORT_TEXT, n) : UNKNOWN_TEXT;
}

/* `turn`: the daemon's longest recent one, NULL when unknown. */
static void draw_figures(struct canvas *c, struct area area, int row, const struct world_target *t,
                         const Hw__LoopTurn *turn)
{
        const Hw__Health *h = t->health;
        char text[SHORT_TEXT];
        int column = 1;

        column = figure(c, area, row, column, "lost ", bytes_or_unknown(text, h->has_lost_bytes, h->lost_bytes),
                        h->has_lost_bytes && h->lost_bytes > 0);
        column = figure(c, area, row, column, "late ", count_or_unknown(text, h->has_late_samples, h->late_samples),
                        h->has_late_samples && h->late_samples > 0);
        column = figure(c, area, row, column, "lag ", duration_or_unknown(text, h->has_lag_ns, h->lag_ns),
                        h->has_lag_ns && h->lag_ns > UINT64_C(10000000000));
        column = figure(c, area, row, column, "read ", bytes_or_unknown(text, h->has_bytes, h->bytes), false);
        if (t->target && t->target->has_passed_bytes)
                column = figure(c, area, row, column, "passed over ",
                                bytes_or_unknown(text, true, t->target->passed_bytes), true);
        if (h->has_reconnects && h->reconnects)
                column = figure(c, area, row, column, "reconnects ", count_or_unknown(text, true, h->reconnects), true);
        if (h->has_gaps && h->gaps)
                column = figure(c, area, row, column, "not seen ", duration_or_unknown(text, true, h->gap_ns), true);
        if (h->recording && h->recording->paused)
                column = figure(c, area, row, column, "recording ", "paused", true);
        else if (h->recording && h->recording->active)
                column = figure(c, area, row, column, "recorded ",
                                bytes_or_unknown(text, true, h->recording->bytes - h->recording->lost_bytes), false);
        if (h->recording && h->recording->lost_bytes)
                column = figure(c, area, row, column, "not recorded ",
                                bytes_or_unknown(text, true, h->recording->lost_bytes), true);
        if (h->has_resyncs && h->resyncs)
                column =
                        figure(c, area, row, column, "damaged places ", count_or_unknown(text, true, h->resyncs), true);
        if (h->has_unknown_events && h->unknown_events)
                column = figure(c, area, row, column, "unknown events ",
                                count_or_unknown(text, true, h->unknown_events), false);
        if (h->has_time_anomalies && h->time_anomalies)
                column = figure(c, area, row, column, "odd times ", count_or_unknown(text, true, h->time_anomalies),
                                true);
        if (turn && turn->has_cpu_ns && turn->cpu_ns > LONG_TURN_NS)
                (void)figure(c, area, row, column, "daemon away ", duration_or_unknown(text, true, turn->cpu_ns), true);
}

/* Advice, wrapped; what does not fit is announced in the last row. */
static void draw_advice(struct canvas *c, struct area area, int row, const struct world_target *t)
{
        char text[1024], line[1024], more[64];

        for (size_t i = 0; i < n_advice(t); i++) {
                const char *rest = advice_text(t, i, text, sizeof(text));
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
