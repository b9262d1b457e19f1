/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/band.c - one band: its chart, its numbers, and its full definition: the
 * cost-centre stack, or the info table with its source location.
 */
#include <inttypes.h>
#include <string.h>

#include "client/console/views/views.h"
#include "client/console/scene/trends.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"

/* The open band; NULL when the run that had it is over. */
static const struct world_band *shown_band(const struct console *c)
{
        const struct world_target *t = c->scene.target;

        return t ? world_band_of(t, c->band) : NULL;
}

/* ------------------------------------------------------------------- stack */

ROWS_ARE(Hw__CostCentre, centre_of_row)

COLUMN_VALUE(label, value_text(centre_of_row(row)->label))
COLUMN_VALUE(module, value_text(centre_of_row(row)->module))
COLUMN_VALUE(source, value_text(centre_of_row(row)->source))
COLUMN_VALUE(caf, centre_of_row(row)->has_caf ? value_text(centre_of_row(row)->caf ? "CAF" : "no") : no_value)

/* clang-format off */
static const struct column columns[] = {
        { .title = "cost centre", .name = "label", .width = -24, .value = label, .searched = true,
          .help = "of the band's cost-centre stack, the innermost first" },
        { .title = "module", .name = "module", .width = -20, .value = module, .help = "the defining module" },
        { .title = "source", .name = "source", .width = -24, .rank = 1, .value = source, .help = "file and place" },
        { .title = "CAF", .name = "caf", .width = 3, .rank = 2, .value = caf,
          .help = "whether it is a constant that lives as long as it is referred to" },
};
/* clang-format on */

static void fill_rows(const struct console *c, struct table *t)
{
        const struct world_band *b = shown_band(c);

        for (size_t i = 0; b && i < b->def->n_stack; i++)
                table_add(t, i, b->def->stack[i]);
}

static const struct table_class table = {
        .name = "stack",
        .empty = UNKNOWN_TEXT "  this band is not a cost-centre stack",
        .columns = columns,
        .n_columns = ARRAY_SIZE(columns),
        .sort = SIZE_MAX,
        .rows = fill_rows,
};

/* ------------------------------------------------------------------- facts */

/* "closure type  THUNK_1_0", or nothing if there is no value. Returns the rows used. */
static int draw_fact(struct canvas *canvas, struct area area, int row, const char *name, const char *value)
{
        if (!value || !*value)
                return 0;
        (void)canvas_put(canvas, area, row, 1, 15, TINT_DIM, name);
        (void)canvas_put(canvas, area, row, 17, area.width - 18, TINT_PLAIN, SAFE_TEXT(2048, value));
        return 1;
}

static int put_number(struct canvas *canvas, struct area area, int row, int at, const char *name, const char *shown,
                      enum tint tint)
{
        if (at + 24 > area.width)
                return at;
        at += canvas_put(canvas, area, row, at, 16, TINT_DIM, name) + 1;
        return at + canvas_put(canvas, area, row, at, 16, tint, shown) + 3;
}

static int draw_number(struct canvas *canvas, struct area area, int row, int at, const char *name, enum unit unit,
                       struct value v, enum tint tint)
{
        char shown[SHORT_TEXT];

        return put_number(canvas, area, row, at, name, value_show(shown, sizeof(shown), unit, v), tint);
}

/* The slope and its interval, in one unit. */
static int draw_slope(struct canvas *canvas, struct area area, int row, int at, const Hw__Trend *trend)
{
        const struct {
                const char *name;
                struct value v;
                enum tint tint;
        } parts[] = { { "slope", trend_slope(trend), TINT_STRONG },
                      { "from", trend_slope_low(trend), TINT_PLAIN },
                      { "to", trend_slope_high(trend), TINT_PLAIN } };
        struct rate_unit unit = rate_unit_within(parts[0].v.number, parts[1].v.number, parts[2].v.number);
        char shown[SHORT_TEXT];

        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                at = put_number(canvas, area, row, at, parts[i].name,
                                value_show_rate(shown, sizeof(shown), UNIT_SLOPE, unit, parts[i].v), parts[i].tint);
        return at;
}

static void draw_numbers(const struct console *c, struct canvas *canvas, struct area area, int row,
                         const struct world_band *b)
{
        const struct scene *s = &c->scene;
        const Hw__Census *census = s->target->census;
        bool has_share = census && census->has_total_bytes && census->total_bytes;
        int at = 1;

        at = draw_number(canvas, area, row, at, "now", UNIT_BYTES, value_number(true, world_band_bytes(s->target, b)),
                         TINT_STRONG);
        at = draw_number(
                canvas, area, row, at, "share", UNIT_SHARE,
                value_number(has_share, has_share ? world_band_bytes(s->target, b) / (double)census->total_bytes : 0),
                TINT_PLAIN);
        at = draw_number(canvas, area, row, at, "at first", UNIT_BYTES, value_number(true, (double)b->first_bytes),
                         TINT_PLAIN);
        at = draw_number(canvas, area, row, at, "max", UNIT_BYTES, value_number(true, (double)b->max_bytes),
                         TINT_PLAIN);
        (void)draw_number(canvas, area, row, at, "first seen", UNIT_WHEN,
                          value_when(s, s->target, b->def->has_first_seen_ns, b->def->first_seen_ns), TINT_PLAIN);
        at = 1;
        at = draw_number(canvas, area, row + 1, at, "verdict", UNIT_TEXT, trend_verdict(b->trend),
                         trend_tint(b->trend));
        at = draw_slope(canvas, area, row + 1, at, b->trend);
        (void)draw_number(canvas, area, row + 1, at, "since", UNIT_WHEN, trend_onset(s, s->target, b->trend),
                          TINT_PLAIN);
}

static int draw_facts(struct canvas *canvas, struct area area, int row, const struct world_band *b)
{
        const Hw__InfoTable *info = b->def->info_table;
        char key[32];
        int first = row;

        row += draw_fact(canvas, area, row, "why", b->trend ? b->trend->sentence : NULL);
        if (b->def->has_key) {
                (void)snprintf(key, sizeof(key), "0x%" PRIx64, b->def->key);
                row += draw_fact(canvas, area, row, "info table", key);
        }
        if (!info && b->def->has_key)
                row += draw_fact(canvas, area, row, "name",
                                 "not in the log: -finfo-table-map gives it, also in libraries");
        if (!info)
                return row - first;
        row += draw_fact(canvas, area, row, "name", info->name);
        row += draw_fact(canvas, area, row, "closure type", info->closure_type);
        row += draw_fact(canvas, area, row, "type", info->type);
        row += draw_fact(canvas, area, row, "in", info->label);
        row += draw_fact(canvas, area, row, "module", info->module);
        row += draw_fact(canvas, area, row, "source", info->source);
        return row - first;
}

/* -------------------------------------------------------------------- view */

static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        const struct world_band *b = shown_band(c);
        struct area part = area;
        struct chart drawn;
        int row, stack;

        if (!b) {
                (void)canvas_put(canvas, area, 1, 1, area.width - 2, TINT_DIM, "this band ended with its run");
                return;
        }
        timeline_begin(c, &drawn, UNIT_BYTES);
        chart_line(&drawn, "bytes", scene_band(&c->scene, c->scene.target, b), SPARK_GAUGE, TINT_LINE_1);
        (void)canvas_put(canvas, area, 0, 1, area.width - 2, TINT_STRONG, SAFE_TEXT(4096, b->def->label));
        draw_numbers(c, canvas, area, 1, b);
        row = 3 + draw_facts(canvas, area, 3, b);
        stack = b->def->n_stack ? (int)b->def->n_stack + 1 : 0;
        if (stack > (area.height - row) / 2)
                stack = (area.height - row) / 2;
        part = area_below(area, row);
        part.height -= stack;
        timeline_draw(c, canvas, part, &drawn);
        part = area_below(part, part.height);
        part.height = stack;
        if (stack > 1)
                console_table(c, canvas, part, &c->shown->tables[0]);
}

/* clang-format off */
static const struct console_key keys[] = {
        { "esc", "back to the bands" }, { "↑ ↓", "frames" }, { NULL, NULL },
};
/* clang-format on */

const struct console_view view_band = {
        .name = "band",
        .title = "Band",
        .brief = "Band",
        .about = "One band: its history, its trend, and what it is.",
        .keys = keys,
        .tables = { &table },
        .draw = draw_view,
};
