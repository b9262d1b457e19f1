/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bands.c - the largest bands of the newest census: bytes, share, change and
 * history. Change and history cover the window, whatever the width, so the
 * number matches the sparkline; with one census the change is unknown.
 */
#include "client/console/overview/sections.h"

#include "client/answers/census.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/console/draw/widgets.h"
#include "client/console/scene/scene.h"
#include "client/console/table/value.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"

enum { MOST = 64, BYTES = 10, SHARE = 8, CHANGE = 12, BESIDE = 28 /* the number of the census, and blanks */ };

static int graph_width(int width)
{
        int graph = width / 6;

        return graph > SPARK_MAX ? SPARK_MAX : graph;
}

static int shown_bands(const struct world_target *t)
{
        const struct world_band *bands[MOST];

        return (int)world_top_bands(t, bands, MOST);
}

/* clang-format off */
static const char *const subjects[] = {
        "Bands", "Bands by cost centre stack", "Bands by module", "Bands by closure description", "Bands by type",
        "Bands by retainer", "Bands by biography", "Bands by closure type", "Bands by info table", "Bands by era",
};
/* clang-format on */

static const char *subject_text(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        if (!run || !run->has_breakdown || run->breakdown < 0 || (size_t)run->breakdown >= ARRAY_SIZE(subjects))
                return subjects[0];
        return subjects[run->breakdown];
}

static void draw_band(struct canvas *c, struct area area, int row, const struct scene *s, const struct world_target *t,
                      const struct world_band *b)
{
        int graph = graph_width(area.width), column = 1;
        double share = 0;
        bool has_share = t->census->has_total_bytes && t->census->total_bytes > 0;
        char text[SHORT_TEXT];

        if (has_share)
                share = (double)b->bytes / (double)t->census->total_bytes;
        (void)canvas_put_right(c, area, row, column, BYTES, TINT_STRONG,
                               hw_bytes_text(text, sizeof(text), (double)b->bytes));
        column += BYTES;
        (void)canvas_put_right(c, area, row, column, SHARE, TINT_PLAIN, share_or_unknown(text, has_share, share));
        column += SHARE;
        const double change = scene_band_change(s, t, b);
        char gained[SHORT_TEXT];

        (void)canvas_put_right(c, area, row, column, CHANGE, change > 0 ? TINT_WARN : TINT_DIM,
                               change >= 0 && change <= 0
                                       ? "0"
                                       : value_show(gained, sizeof(gained), UNIT_CHANGE, value_number(true, change)));
        column += CHANGE + 2;
        draw_spark(c, area, row, column, graph, scene_band(s, t, b), scene_span(s, t), SPARK_GAUGE);
        column += graph + 2;
        draw_band_label(c, area, row, column, area.width - column - 1, b->def);
}

static void draw_heading(struct canvas *c, struct area area, int row)
{
        int column = 1;

        (void)canvas_put_right(c, area, row, column, BYTES, TINT_DIM, "bytes");
        column += BYTES;
        (void)canvas_put_right(c, area, row, column, SHARE, TINT_DIM, "share");
        column += SHARE;
        (void)canvas_put_right(c, area, row, column, CHANGE, TINT_DIM, "change");
        column += CHANGE + 2;
        (void)canvas_put(c, area, row, column, graph_width(area.width), TINT_DIM, "history");
        column += graph_width(area.width) + 2;
        (void)canvas_put(c, area, row, column, area.width - column - 1, TINT_DIM, "band");
}

/* Of a profile by info table: what its bands hold that the log gives no name; they are shown as addresses. */
static uint64_t unnamed_bytes(const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        uint64_t bytes = 0;

        if (!run || run->breakdown != HW__BREAKDOWN__BREAKDOWN_INFO_TABLE)
                return 0;
        for (uint32_t i = 0; i < t->n_bands; i++)
                if (t->bands[i] && t->bands[i]->def && !t->bands[i]->def->info_table)
                        bytes += t->bands[i]->bytes;
        return bytes;
}

/* Of when the bands are. True: it has a row of its own, because it is more than an age or the title is long. */
static bool age_of(char *out, size_t size, const struct scene *s, const struct world_target *t, int width,
                   bool *ret_warns)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        struct census_age age;

        census_age_of(&age, t, s->live);
        (void)census_age_text(out, size, &age, world_known_until_ns(t));
        *ret_warns = age.stale || (run && run->no_census) || (t->census && t->census->spread > 0);
        return *ret_warns || unnamed_bytes(t) || (t->census && t->census->rows_left_out) ||
               (int)(strlen(subject_text(t)) + strlen(out)) + BESIDE > width;
}

int bands_rows(const struct scene *s, const struct world_target *t, int width)
{
        char age[CENSUS_LINE];
        bool warns;

        return t->census ? 2 + shown_bands(t) + age_of(age, sizeof(age), s, t, width, &warns) : 2;
}

/* `age`: "" where it has a row of its own. */
static void draw_bands_title(struct canvas *c, struct area area, const struct world_target *t, const char *age)
{
        char number[SHORT_TEXT], title[CENSUS_LINE + 3 * SHORT_TEXT + 128];
        const uint64_t unnamed = unnamed_bytes(t);
        const Hw__Census *census = t->census;
        int n;

        n = snprintf(title, sizeof(title), "%s%scensus %" PRIu64, age, *age ? " · " : "", census->number);
        if (unnamed)
                n += snprintf(title + n, sizeof(title) - (size_t)n, " · %s not named in the log",
                              hw_bytes_text(number, sizeof(number), (double)unnamed));
        if (census->rows_left_out)
                (void)snprintf(title + n, sizeof(title) - (size_t)n, " · %" PRIu64 " more bands hold %s",
                               census->rows_left_out,
                               hw_bytes_text(number, sizeof(number), (double)census->bytes_left_out));
        draw_title(c, area, 0, subject_text(t), title);
}

void draw_bands(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        const struct world_band *bands[MOST];
        bool heading = area.height >= 5, warns;
        char age[CENSUS_LINE];
        int row = 1, n;

        if (!t->census) {
                draw_title(c, area, 0, subject_text(t), "");
                (void)canvas_put(c, area, 1, 1, area.width - 2, TINT_DIM, scene_no_census(s, t));
                return;
        }
        const bool apart = age_of(age, sizeof(age), s, t, area.width, &warns);
        draw_bands_title(c, area, t, apart ? "" : age);
        if (apart)
                (void)canvas_put(c, area, row++, 1, area.width - 2, warns ? TINT_WARN : TINT_DIM,
                                 SAFE_TEXT(4 * CENSUS_LINE, age));
        if (heading)
                draw_heading(c, area, row++);
        n = area.height - row < MOST ? area.height - row : MOST;
        n = n > 0 ? (int)world_top_bands(t, bands, (size_t)n) : 0;
        for (int i = 0; i < n; i++)
                draw_band(c, area, row + i, s, t, bands[i]);
}
