/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/alerts.c - alerts of all targets, and below them the reason in words:
 * the selected alert's evidence, and what its target's memory does.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/alerts/known.h"
#include "client/answers/answers.h"
#include "client/console/scene/scene.h"
#include "client/console/views/views.h"
#include "client/console/scene/trends.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"

/* A row. Both are borrowed from the world until the table is filled again. */
struct alert_row {
        const struct world_target *target;
        const Hw__Alert *alert;
};

struct alerts {
        struct alert_row *rows;
        size_t capacity;
        bool unfolded; /* alerts that are part of others have rows of their own */
};

static const Hw__Alert *alert_of_row(const void *row)
{
        return ((const struct alert_row *)row)->alert;
}

static const struct world_target *target_of_row(const void *row)
{
        return ((const struct alert_row *)row)->target;
}

/* ----------------------------------------------------------------- columns */

static const char *state_name(const Hw__Alert *a)
{
        if (!a->has_state)
                return NULL;
        switch (a->state) {
        case HW__ALERT__STATE__STATE_FIRING:
                return "firing";
        case HW__ALERT__STATE__STATE_PENDING:
                return "pending";
        case HW__ALERT__STATE__STATE_RESOLVED:
                return "resolved";
        default:
                return "inactive";
        }
}

COLUMN_VALUE(state, value_text(state_name(alert_of_row(row))))

/* By severity while it holds. */
static enum tint state_colour(const struct scene *s, const void *row)
{
        const Hw__Alert *a = alert_of_row(row);
        bool firing = a->has_state && a->state == HW__ALERT__STATE__STATE_FIRING;

        return firing && !(a->has_silenced && a->silenced) ? severity_tint(alert_severity(a)) : TINT_DIM;
}

/* 3: firing, 2: pending, 1: resolved. */
static struct value severity_value(const struct scene *s, const void *row)
{
        const Hw__Alert *a = alert_of_row(row);

        if (!a->has_state)
                return no_value;
        return value_number(true, a->state == HW__ALERT__STATE__STATE_FIRING ? 3
                                  : a->state == HW__ALERT__STATE__STATE_PENDING
                                          ? 2
                                          : a->state == HW__ALERT__STATE__STATE_RESOLVED);
}

/* Firing before pending before others, the more severe first, parts below what they are part of; silenced ones last. */
static struct value order_value(const struct scene *s, const void *row)
{
        const Hw__Alert *a = alert_of_row(row), *head = alert_head(target_of_row(row)->alerts, a);
        double silenced = a->has_silenced && a->silenced ? 100 : 0;
        double severity = head ? (double)alert_severity(head) - 0.5 : (double)alert_severity(a);

        return value_number(true, 10 * severity_value(s, row).number + severity - silenced);
}

static void draw_gravity(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                         const void *data)
{
        const Hw__Alert *a = alert_of_row(data);
        bool silenced = a->has_silenced && a->silenced;

        (void)canvas_put(c, area, row, column, width, state_colour(s, data), silenced ? "○" : "●");
}

COLUMN_VALUE(target_name, value_text(target_of_row(row)->name))
COLUMN_VALUE(severity, value_text(alert_of_row(row)->whole_severity ? alert_of_row(row)->whole_severity
                                                                    : alert_of_row(row)->severity))
COLUMN_VALUE(rule, value_text(alert_of_row(row)->rule))
COLUMN_VALUE(band, value_text(alert_of_row(row)->band_label))

static void draw_band(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                      const void *data)
{
        draw_label(c, area, row, column, width, alert_of_row(data)->band_label);
}

COLUMN_VALUE(part_of, value_text(alert_of_row(row)->part_of))

/* Alerts in the same state that are part of it. */
static struct value below_value(const struct scene *s, const void *row)
{
        size_t n = alerts_below(target_of_row(row)->alerts, alert_of_row(row), alert_of_row(row)->state);

        return value_number(n > 0, (double)n);
}

COLUMN_VALUE(measured, value_text(alert_of_row(row)->value_text))
COLUMN_VALUE(threshold, value_text(alert_of_row(row)->threshold_text))

/*
 * A moment of an alert, which may be of a run before this one: then event time 0 was at another time of day. Of a run
 * that no event is known of, the time of day is all there is.
 */
static struct value moment_value(const struct scene *s, const void *row, bool has_ns, uint64_t ns, bool has_wall,
                                 uint64_t wall_ns)
{
        const struct world_target *t = target_of_row(row);
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        struct value v = value_when(s, t, has_ns, ns);

        if (has_wall && !s->run_time)
                v.start_wall_ns = wall_ns - ns;
        else if (has_wall && run && run->has_start_wall_ns && wall_ns < run->start_wall_ns)
                return value_text("before");
        return v;
}

static struct value since_value(const struct scene *s, const void *row)
{
        const Hw__Alert *a = alert_of_row(row);

        return moment_value(s, row, a->has_since_ns, a->since_ns, a->has_since_wall_ns, a->since_wall_ns);
}

static struct value fired_value(const struct scene *s, const void *row)
{
        const Hw__Alert *a = alert_of_row(row);

        return moment_value(s, row, a->has_fired_ns, a->fired_ns, a->has_fired_wall_ns, a->fired_wall_ns);
}

COLUMN_VALUE(evidence, value_text(alert_of_row(row)->sentence))

/* clang-format off */
static const struct column columns[] = {
        { .title = "", .name = "gravity", .unit = UNIT_COUNT, .width = 1, .value = severity_value, .order = order_value,
          .draw = draw_gravity, .help = NULL },
        { .title = "state", .name = "state", .width = 8, .value = state, .tint = state_colour,
          .help = "pending: its expression holds, but not long enough; firing; resolved: it fired and is over" },
        { .title = "target", .name = "target", .width = -12, .rank = 1, .value = target_name,
          .help = "whose alert it is" },
        { .title = "rule", .name = "rule", .width = -20, .value = rule, .searched = true, .help = "name of the rule" },
        { .title = "severity", .name = "severity", .width = 8, .rank = 3, .value = severity, .tint = state_colour,
          .help = "info, warning or critical: the greatest of it and its parts. It decides colour and order" },
        { .title = "parts", .name = "parts", .unit = UNIT_COUNT, .width = 5, .rank = 4, .value = below_value,
          .help = "alerts that are part of this one, as those of single bands: e shows and hides them" },
        { .title = "value", .name = "value", .width = -14, .rank = 5, .value = measured,
          .help = "value of its expression: now; of a resolved alert, while it fired" },
        { .title = "threshold", .name = "threshold", .width = -12, .rank = 6, .value = threshold,
          .help = "what the value is compared with" },
        { .title = "fired", .name = "fired_ns", .unit = UNIT_WHEN, .width = 8, .rank = 2, .value = fired_value,
          .help = "when it fired; before: in a run before this one" },
        { .title = "holds", .name = "since_ns", .unit = UNIT_WHEN, .width = 9, .rank = 7, .value = since_value,
          .help = "since when its expression has held" },
        { .title = "band", .name = "band", .width = -16, .rank = 8, .value = band, .draw = draw_band,
          .help = "for rules over bands: which one" },
        { .title = "part of", .name = "part_of", .width = -8, .rank = 10, .value = part_of,
          .help = "the alert that this one is part of and counted with" },
        { .title = "evidence", .name = "evidence", .width = -20, .rank = 9, .value = evidence,
          .help = "why, in words" },
};
/* clang-format on */

/* -------------------------------------------------------------------- rows */

static size_t count_alerts(const struct console *c)
{
        size_t n = 0;

        for (size_t i = 0; i < world_targets(c->scene.world); i++) {
                const struct world_target *t = world_target(c->scene.world, i);

                n += t->alerts ? t->alerts->n_alerts : 0;
        }
        return n;
}

/* A hash of what identifies an instance. */
static uint64_t alert_identity(const struct world_target *t, const Hw__Alert *a)
{
        return hash_text(a->rule, hash_text(a->group, hash_text(t->name, t->daemon ^ (uint64_t)a->band << 32)));
}

static void fill_rows(const struct console *c, struct table *t)
{
        struct alerts *state_of = console_state(c);
        size_t n = 0;

        if (!ARRAY_RESERVE(state_of->rows, state_of->capacity, count_alerts(c))) {
                t->out_of_memory = true;
                return;
        }
        for (size_t i = 0; i < world_targets(c->scene.world); i++) {
                const struct world_target *from = world_target(c->scene.world, i);

                for (size_t k = 0; from->alerts && k < from->alerts->n_alerts; k++) {
                        if (!state_of->unfolded && !c->printing && alert_head(from->alerts, from->alerts->alerts[k]))
                                continue;
                        state_of->rows[n] = (struct alert_row){ from, from->alerts->alerts[k] };
                        table_add(t, alert_identity(from, from->alerts->alerts[k]), &state_of->rows[n]);
                        n++;
                }
        }
}

static void open_alert(struct console *c, const void *row)
{
        console_choose(c, target_of_row(row));
        if (alert_of_row(row)->has_band) {
                c->band = alert_of_row(row)->band;
                console_show(c, &view_band);
        } else {
                console_show(c, &view_memory);
        }
}

static const struct table_class table = {
        .name = "alerts",
        .empty = "no alert",
        .columns = columns,
        .n_columns = ARRAY_SIZE(columns),
        .sort = 0,
        .rows = fill_rows,
        .open = open_alert,
};

static bool handle_key(struct console *c, int k)
{
        struct alerts *a = console_state(c);

        if (k != 'e')
                return false;
        a->unfolded = !a->unfolded;
        return true;
}

/* ----------------------------------------------------------------- in words */

enum { LABEL = 13, LINE = 1024 };

/* "label  text", wrapped; returns the row after it. */
static int draw_paragraph(struct canvas *canvas, struct area area, int row, enum tint tint, const char *label,
                          const char *words)
{
        if (!words || !*words)
                return row;
        (void)canvas_put(canvas, area, row, 1, LABEL - 1, TINT_DIM, label);
        return row + draw_lines(canvas, area, row, 1 + LABEL, area.width - LABEL - 2, INT_MAX, tint, words);
}

static int draw_labels(struct canvas *canvas, struct area area, int row, Hw__Label *const *list, size_t n)
{
        for (size_t i = 0; i < n && row < area.height; i++)
                row = draw_paragraph(canvas, area, row, TINT_PLAIN, list[i]->name, list[i]->value);
        return row;
}

static int draw_actions(struct canvas *canvas, struct area area, int row, const Hw__Alert *a)
{
        for (size_t i = 0; i < a->n_actions && row < area.height; i++) {
                const Hw__ActionResult *r = a->actions[i];
                char said[LINE];

                const char *outcome = action_outcome(r);

                (void)snprintf(said, sizeof(said), "%s: %s%s%s", r->kind ? r->kind : "?", outcome,
                               outcome[0] && r->detail ? ", " : "", r->detail ? r->detail : "");
                const bool failed = r->has_ok && !r->ok;
                row = draw_paragraph(canvas, area, row, failed ? TINT_BAD : TINT_PLAIN, "action", said);
        }
        return row;
}

static void draw_words(struct canvas *canvas, struct area area, const struct scene *s, const struct world_target *t,
                       const Hw__Alert *a)
{
        char title[9 * WORLD_NAME_MAX];
        const struct answer_memo *m = scene_answered(s, t);
        int row = 1;

        (void)snprintf(title, sizeof(title), "What is known of %s", SAFE_TEXT(8 * WORLD_NAME_MAX, t->name));
        draw_title(canvas, area, 0, title, "");
        if (a) {
                row = draw_paragraph(canvas, area, row, TINT_STRONG, "alert", a->sentence);
                row = draw_paragraph(canvas, area, row, TINT_PLAIN, "expression", a->expr);
                row = draw_paragraph(canvas, area, row, TINT_PLAIN, "source", a->band_source);
        }
        for (int q = 0; q < QUESTIONS; q++)
                row = draw_paragraph(canvas, area, row, answer_tint(m->a.answer[q].tone),
                                     question_key((enum target_question)q), m->whole[q]);
        if (!a)
                return;
        if (a->has_silenced && a->silenced)
                row = draw_paragraph(canvas, area, row, TINT_WARN, "silenced",
                                     a->silence && a->silence->why ? a->silence->why : "no action is run");
        row = draw_labels(canvas, area, row, a->annotations, a->n_annotations);
        row = draw_labels(canvas, area, row, a->labels, a->n_labels);
        (void)draw_actions(canvas, area, row, a);
}

static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *t = &c->shown->tables[0];
        const void *row = table_selected(t);
        struct area upper = area;
        int wanted = 1 + (t->n ? (int)t->n : 1);

        upper.height = wanted < area.height / 2 ? wanted : area.height / 2;
        console_table(c, canvas, upper, t);
        if (row)
                draw_words(canvas, area_below(area, upper.height + 1), &c->scene, target_of_row(row),
                           alert_of_row(row));
        else if (c->scene.target)
                draw_words(canvas, area_below(area, upper.height + 1), &c->scene, c->scene.target, NULL);
}

static int wanted_rows(struct console *c, int width)
{
        return 3 + (int)c->shown->tables[0].n + 12;
}

static void release_rows(void *state_of)
{
        free(((struct alerts *)state_of)->rows);
}

/* clang-format off */
static const struct console_key keys[] = {
        { "↑ ↓", "move" }, { "enter", "open its memory or band" }, { "e", "each part" }, { "< >", "sort" },
        { NULL, NULL },
};
/* clang-format on */

/* What is said in words below the table. */
static const struct console_key words[] = {
        { "alert", "the rule's sentence for this alert" },
        { "expression", "of the rule, as in its file" },
        { "source", "where the alert's band is in the program's source" },
        { "wrong ... next", "the answers for its target, as on its overview" },
        { "silenced", "why no action is run" },
        { "action", "what was done because of it, and how that went" },
        { NULL, NULL },
};

const struct console_view view_alerts = {
        .name = "alerts",
        .title = "Alerts",
        .brief = "Alert",
        .letter = 'a',
        .about = "Alerts of all targets. Below: why the selected one fires, how its target's memory develops, and when "
                 "it reaches its limit.",
        .keys = keys,
        .tables = { &table },
        .words = words,
        .state_size = sizeof(struct alerts),
        .state_done = release_rows,
        .draw = draw_view,
        .rows = wanted_rows,
        .key = handle_key,
        .all_targets = true,
};
