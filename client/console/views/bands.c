/* SPDX-License-Identifier: BSD-3-Clause */
/* views/bands.c - what the heap is made of: a line for each band of the newest census. */
#include <math.h>
#include <string.h>

#include "client/answers/census.h"
#include "client/world/state/band_name.h"
#include "client/console/scene/scene.h"
#include "client/console/views/views.h"
#include "client/console/scene/trends.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"

ROWS_ARE(struct world_band, band_of_row)

/* ----------------------------------------------------------------- columns */

COLUMN_VALUE(label, value_text(band_of_row(row)->def->label))
COLUMN_VALUE(bytes, value_number(true, world_band_bytes(s->target, band_of_row(row))))

static struct value share_value(const struct scene *s, const void *row)
{
        const Hw__Census *census = s->target->census;
        bool known = census && census->has_total_bytes && census->total_bytes > 0;

        return value_number(known,
                            known ? world_band_bytes(s->target, band_of_row(row)) / (double)census->total_bytes : 0);
}

static bool has_closures(const struct scene *s)
{
        return s->target && s->target->census && s->target->census->n_closures > 0;
}

COLUMN_VALUE(closures, value_number(has_closures(s) && !isnan(world_band_bytes(s->target, band_of_row(row))),
                                    (double)band_of_row(row)->closures))

static bool has_contents(const struct scene *s)
{
        return s->target && s->target->census && s->target->census->n_contents > 0;
}

COLUMN_VALUE(holds, value_text(band_of_row(row)->contents ? band_of_row(row)->contents->name : NULL))
COLUMN_VALUE(holds_share, value_number(band_of_row(row)->contents != NULL, band_contents_share(band_of_row(row))))

static char *holds_text(char *out, size_t size, const struct scene *s, const void *row)
{
        char text[CONTENTS_TEXT];

        return value_show(out, size, UNIT_TEXT, value_text(band_contents_text(text, sizeof(text), band_of_row(row))));
}

COLUMN_VALUE(change, value_number(true, scene_band_change(s, s->target, band_of_row(row))))
COLUMN_TINT(change_colour, scene_band_change(s, s->target, band_of_row(row)) > 0 ? TINT_PLAIN : TINT_DIM)
COLUMN_VALUE(since_mark, value_number(true, scene_band_since_mark(s, band_of_row(row))))

#define WINDOW_VALUE(function, field)                                                                                  \
        static struct value function(const struct scene *s, const void *row)                                           \
        {                                                                                                              \
                const Hw__WindowStatistics *w = trend_window(band_of_row(row)->trend, s->window_ns);                   \
                                                                                                                       \
                return value_number(w && w->has_##field, w ? w->field : 0);                                            \
        }

WINDOW_VALUE(integral, integral)
WINDOW_VALUE(deviation, stddev)
WINDOW_VALUE(fit, fit)

COLUMN_VALUE(slope, trend_slope(band_of_row(row)->trend))
COLUMN_VALUE(slope_low, trend_slope_low(band_of_row(row)->trend))
COLUMN_VALUE(slope_high, trend_slope_high(band_of_row(row)->trend))
COLUMN_VALUE(verdict, trend_verdict(band_of_row(row)->trend))
COLUMN_TINT(verdict_colour, trend_tint(band_of_row(row)->trend))
COLUMN_VALUE(verdict_order, trend_gravity(band_of_row(row)->trend))
COLUMN_VALUE(since, trend_onset(s, s->target, band_of_row(row)->trend))

static struct value so_far(const struct scene *s, const void *row)
{
        const Hw__Trend *t = band_of_row(row)->trend;

        return value_number(t && t->has_provisional_slope, t ? t->provisional_slope : 0);
}

COLUMN_VALUE(first_seen,
             value_when(s, s->target, band_of_row(row)->def->has_first_seen_ns, band_of_row(row)->def->first_seen_ns))

/* The info table's, or those of a cost-centre stack's innermost centre, which has a module and a place, too. */
#define BAND_TEXT(function, field)                                                                                     \
        static struct value function(const struct scene *s, const void *row)                                           \
        {                                                                                                              \
                const Hw__InfoTable *info = band_of_row(row)->def->info_table;                                         \
                                                                                                                       \
                (void)s;                                                                                               \
                return value_text(info ? info->field : NULL);                                                          \
        }

BAND_TEXT(type, type)
BAND_TEXT(table_name, name)
BAND_TEXT(closure, closure_type)

static struct value module_value(const struct scene *s, const void *row)
{
        const Hw__Band *def = band_of_row(row)->def;

        return value_text(def->info_table ? def->info_table->module : def->n_stack ? def->stack[0]->module : NULL);
}

/* Compilers write ":" where there is no place. */
static struct value source_value(const struct scene *s, const void *row)
{
        const Hw__Band *def = band_of_row(row)->def;
        const char *place = def->info_table ? def->info_table->source : def->n_stack ? def->stack[0]->source : NULL;

        return value_text(place && strcmp(place, ":") != 0 ? place : NULL);
}

static Hw__Breakdown breakdown_of(const struct scene *s)
{
        const Hw__Run *run = s->target && s->target->target ? s->target->target->run_info : NULL;

        return run && run->has_breakdown ? run->breakdown : HW__BREAKDOWN__BREAKDOWN_NONE;
}

static bool by_info_table(const struct scene *s)
{
        return breakdown_of(s) == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE;
}

static bool has_places(const struct scene *s)
{
        return by_info_table(s) || breakdown_of(s) == HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK;
}

COLUMN_TINT(strong, band_of_row(row)->bytes ? TINT_STRONG : TINT_DIM)

static void draw_history(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                         const void *data)
{
        draw_spark(c, area, row, column, width, scene_band(s, s->target, band_of_row(data)), scene_span(s, s->target),
                   SPARK_GAUGE);
}

static void draw_label_of(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                          const void *data)
{
        draw_label(c, area, row, column, width, band_of_row(data)->def->label);
}

/* clang-format off */
static const struct column columns[] = {
        { .title = "history", .name = "max_bytes", .unit = UNIT_BYTES, .width = 16, .rank = 6, .value = bytes,
          .draw = draw_history, .help = "over the window, as far back as the daemon remembers" },
        { .title = "bytes", .name = "bytes", .unit = UNIT_BYTES, .width = 9, .value = bytes, .tint = strong,
          .help = "in the newest census" },
        { .title = "share", .name = "share", .unit = UNIT_SHARE, .width = 7, .rank = 7, .value = share_value,
          .help = "share of the newest census" },
        { .title = "closures", .name = "closures", .unit = UNIT_COUNT, .width = 10, .rank = 4, .value = closures,
          .shown = has_closures, .help = "how many there are in the newest census, which was read from outside" },
        { .title = "holds", .name = "holds", .width = -18, .rank = 4, .value = holds, .text = holds_text,
          .shown = has_contents,
          .help = "what most of it is, with its share, by the types of what its closures hold; of lists, maps, thunks "
                  "and the like" },
        { .title = "held", .name = "holds_share", .unit = UNIT_SHARE, .value = holds_share, .hidden = true,
          .help = "only in files: how much of the band that is" },
        { .title = "change", .name = "change_bytes", .unit = UNIT_CHANGE, .width = 10, .rank = 3, .value = change,
          .tint = change_colour,
          .help = "over the window: compared with the newest known census before it" },
        { .title = "since mark", .name = "since_mark_bytes", .unit = UNIT_CHANGE, .width = 10, .value = since_mark,
          .shown = scene_has_mark, .help = "after M: compared with the newest census before the marked moment" },
        { .title = "slope", .name = "slope_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 5, .value = slope,
          .help = "robust slope (Theil-Sen) behind the verdict; ~ is provisional: from the few points before it" },
        { .title = "at least", .name = "slope_low_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 10,
          .value = slope_low, .help = "low end of the slope's interval of about 95 %" },
        { .title = "at most", .name = "slope_high_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 11,
          .value = slope_high, .help = "high end of the slope's interval" },
        { .title = "so far", .name = "provisional_slope_bps", .unit = UNIT_SLOPE, .value = so_far, .hidden = true,
          .help = "only in files: the slope of the few points before there is a verdict" },
        { .title = "verdict", .name = "verdict", .width = 8, .rank = 1, .value = verdict, .order = verdict_order,
          .tint = verdict_colour, .help = "steady, rising, growing or leak; unknown: too little data yet" },
        { .title = "since", .name = "onset_ns", .unit = UNIT_WHEN, .width = 9, .rank = 8, .value = since,
          .help = "when its growth began; only for bands that grow" },
        { .title = "integrated", .name = "integral_byte_s", .unit = UNIT_INTEGRAL, .width = 11, .rank = 10,
          .value = integral, .help = "bytes times seconds over the window: what it has cost in total" },
        { .title = "std dev", .name = "stddev_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 9, .value = deviation,
          .help = "standard deviation over the window" },
        { .title = "fit", .name = "fit", .unit = UNIT_RATIO, .width = 4, .rank = 9, .value = fit,
          .help = "R2 of a straight line through the window: 1 is a perfect line" },
        { .title = "first seen", .name = "first_seen_ns", .unit = UNIT_WHEN, .width = 10, .rank = 10, .rising = true,
          .value = first_seen, .help = "the first census that had it" },
        { .title = "type", .name = "type", .width = 12, .rank = 4, .value = type, .shown = by_info_table,
          .help = "of the closure, as the compiler names it" },
        { .title = "closure", .name = "closure_type", .width = 11, .rank = 12, .value = closure,
          .shown = by_info_table, .help = "the kind of closure, as the runtime sees it: CONSTR, FUN, THUNK ..." },
        { .title = "info table", .name = "info_table", .width = 16, .rank = 13, .value = table_name,
          .shown = by_info_table, .help = "its name in the program: distinguishes those with the same label" },
        { .title = "module", .name = "module", .width = 14, .rank = 11, .value = module_value, .shown = has_places,
          .help = "the defining module; for a cost-centre stack, that of its innermost centre" },
        { .title = "source", .name = "source", .width = -16, .rank = 2, .value = source_value, .shown = has_places,
          .by_end = true,
          .help = "file and place, if the program was compiled with this information" },
        { .title = "band", .name = "label", .width = -22, .value = label, .draw = draw_label_of,
          .searched = true,
          .help = "what the heap profile breaks memory down by: closure type, cost-centre stack, module ...; of an "
                  "info table that the log does not name, its address" },
};
/* clang-format on */

/* -------------------------------------------------------------------- rows */

/* Bands that never had a row in a census are not shown. */
static void fill_rows(const struct console *c, struct table *t)
{
        const struct world_target *target = c->scene.target;

        for (uint32_t i = 0; target && i < target->n_bands; i++) {
                if (target->bands[i] && target->bands[i]->seen)
                        table_add(t, target->bands[i]->id, target->bands[i]);
        }
}

static void open_band(struct console *c, const void *row)
{
        c->band = band_of_row(row)->id;
        console_show(c, &view_band);
}

static const char *why_empty(const struct scene *s)
{
        return s->target ? scene_no_census(s, s->target) : "";
}

static const struct table_class table = {
        .name = "bands",
        .why_empty = why_empty,
        .columns = columns,
        .n_columns = ARRAY_SIZE(columns),
        .sort = 1,
        .rows = fill_rows,
        .open = open_band,
};

/* -------------------------------------------------------------------- view */

/* Of when the bands are, above them. */
static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        const struct scene *s = &c->scene;
        char line[CENSUS_LINE];
        struct census_age age = { .any = false };

        if (s->target && s->target->census)
                census_age_of(&age, s->target, s->live);
        if (age.any && area.height > 3) {
                (void)census_age_text(line, sizeof(line), &age, world_known_until_ns(s->target));
                (void)canvas_put(canvas, area, 0, 1, area.width - 2, age.stale ? TINT_WARN : TINT_DIM,
                                 SAFE_TEXT(4 * CENSUS_LINE, line));
                area = area_below(area, 1);
        }
        console_table(c, canvas, area, &c->shown->tables[0]);
}

static int wanted_width(struct console *c, int width)
{
        const size_t n = c->shown->tables[0].n;

        return 2 + (n ? (int)n : 1);
}

static const struct console_key keys[] = {
        { "↑ ↓", "move" }, { "enter", "open" }, { "< >", "sort" }, { "r", "reverse" },
        { "/", "search" }, { "f", "filter" },   { NULL, NULL },
};

const struct console_view view_bands = {
        .name = "bands",
        .title = "Bands",
        .brief = "Bands",
        .letter = 'b',
        .about = "What the heap is made of, from the newest census of the heap profile. Statistics cover the "
                 "published window closest to the one chosen with + and -.",
        .keys = keys,
        .tables = { &table },
        .draw = draw_view,
        .rows = wanted_width,
};
