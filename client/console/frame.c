/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.c - what surrounds every view: at the top the target and whether
 * anything is wrong, at the bottom the keys and the tabs.
 */
#include <string.h>

#include "client/console/console.h"
#include "client/console/scene/trends.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/utf8.h"

enum { LINE = 512 };

/* --------------------------------------------------------------------- top */

/* The window, and what is unusual now, the most serious. Returns its columns. */
static int draw_moment(const struct console *c, struct canvas *canvas, struct area area)
{
        char state[64] = "", window[SHORT_TEXT], age[SHORT_TEXT];
        enum tint tint = TINT_DIM;
        uint64_t age_ns;
        int width;

        if (c->scene.target && scene_stale(&c->scene, c->scene.target, &age_ns)) {
                (void)snprintf(state, sizeof(state), "STALE %s", age_text(age, sizeof(age), age_ns));
                tint = TINT_BAD;
        } else if (c->frozen) {
                (void)snprintf(state, sizeof(state), "FROZEN");
                tint = TINT_WARN;
        } else if (c->ended && !c->scene.live) {
                (void)snprintf(state, sizeof(state), "end of file");
        }
        (void)snprintf(window, sizeof(window), "window %s", console_window(c));
        width = text_columns(window);
        (void)canvas_put_right(canvas, area, 0, 0, area.width - 1, TINT_DIM, window);
        if (state[0]) {
                (void)canvas_put_right(canvas, area, 0, 0, area.width - width - 4, tint, state);
                width += text_columns(state) + 3;
        }
        return width + 1;
}

/* "leak" and "2 alerts": what matters in every view. */
static int draw_wrong(const struct scene *s, struct canvas *canvas, struct area area, int at, int most,
                      const struct world_target *t)
{
        struct value firing = alerts_firing(t);
        enum answer_tone tone = scene_brief(s, t)->tone;
        char text[64];

        if (tone != ANSWER_DIM && strcmp(scene_brief(s, t)->word, state_word(t)) != 0 && most - at > 12)
                at += canvas_put(canvas, area, 0, at, most - at, answer_tint(tone), scene_brief(s, t)->word) + 2;
        if (firing.is == VALUE_NUMBER && firing.number > 0 && most - at > 12) {
                (void)snprintf(text, sizeof(text), "%.0f %s", firing.number, firing.number > 1 ? "alerts" : "alert");
                at += canvas_put(canvas, area, 0, at, most - at, alerts_tint(t), text) + 2;
        }
        return at;
}

static int draw_target(const struct console *c, struct canvas *canvas, struct area area, int right)
{
        const struct world_target *t = c->scene.target;
        char safe[8 * WORLD_NAME_MAX], text[SHORT_TEXT];
        int most = area.width - right - 2, at = 1;

        at += canvas_put(canvas, area, 0, at, most < 24 ? most : most / 2, TINT_STRONG,
                         safe_text(safe, sizeof(safe), t->name));
        at += 2;
        at += canvas_put(canvas, area, 0, at, most - at, state_tint(t), state_tint(t) == TINT_GOOD ? "● " : "○ ");
        at += canvas_put(canvas, area, 0, at, most - at, state_tint(t), state_word(t));
        at = draw_wrong(&c->scene, canvas, area, at + 2, most, t);
        if (t->run && most - at > 12) {
                (void)snprintf(safe, sizeof(safe), "%s %s", scene_over(&c->scene, t) ? "lasted" : "up",
                               duration_or_unknown(text, t->event_time_ns > 0, world_known_until_ns(t)));
                at += canvas_put(canvas, area, 0, at, most - at, TINT_PLAIN, safe);
        }
        return at;
}

static void draw_top(struct console *c, struct canvas *canvas)
{
        struct area area = canvas_area(canvas);
        char text[64];
        size_t n = world_targets(c->scene.world);
        int right;

        canvas_rule(canvas, area, 0, 0, area.width, TINT_PLAIN, " ");
        right = draw_moment(c, canvas, area);
        if (c->scene.target && !c->shown->class->all_targets) {
                (void)draw_target(c, canvas, area, right);
                return;
        }
        (void)snprintf(text, sizeof(text), "%s %s", COUNT_TEXT(n), n == 1 ? "target" : "targets");
        (void)canvas_put(canvas, area, 0, 1, area.width - right - 2, TINT_STRONG, "heapwatch");
        (void)canvas_put(canvas, area, 0, 12, area.width - right - 13, TINT_PLAIN, text);
}

/* ------------------------------------------------------------------ bottom */

/* "up/down move  enter open": the view's own keys and those that always help. */
static void draw_keys(const struct console *c, struct canvas *canvas, struct area area, int row, int right)
{
        static const struct console_key common[] = {
                { "space", "freeze" }, { "← →", "cursor" }, { "+ -", "window" }, { "M", "mark" },
                { "C", "census" },     { "P", "profile" },  { "s", "save" },
        };
        const struct console_key *own = c->shown->class->keys;
        int at = 1, end = area.width - right;
        const size_t n_common = ARRAY_SIZE(common);

        for (size_t i = 0; (own && own->key) || i < n_common;) {
                const struct console_key *k = own && own->key ? own++ : &common[i++];
                const char *key = canvas->ascii && !strcmp(k->key, "← →") ? "left right" : k->key;

                if (at + text_columns(key) + text_columns(k->meaning) + 1 > end)
                        return;
                at += canvas_put(canvas, area, row, at, end - at, TINT_KEY, key) + 1;
                at += canvas_put(canvas, area, row, at, end - at, TINT_DIM, k->meaning) + 2;
        }
}

static void draw_entry(const struct console *c, struct canvas *canvas, struct area area, int row)
{
        const char *label = c->entry == ENTRY_SEARCH   ? "search: "
                            : c->entry == ENTRY_FILTER ? "filter (text or /regex/): "
                                                       : "command, by up and down or typed: ";
        char typed[8 * TABLE_TEXT];
        int at = 1;

        at += canvas_put(canvas, area, row, at, area.width - 2, TINT_KEY, label);
        at += canvas_put(canvas, area, row, at, area.width - at - 2, TINT_STRONG,
                         safe_text(typed, sizeof(typed), c->typed));
        at += canvas_put(canvas, area, row, at, 1, TINT_SELECTED, " ");
        if (c->message[0])
                (void)canvas_put(canvas, area, row, at + 2, area.width - at - 3, TINT_BAD, c->message);
}

/* What restricts the rows; returns its columns. */
static int draw_restriction(const struct console *c, struct canvas *canvas, struct area area, int row)
{
        char text[9 * TABLE_TEXT];

        if (!c->table || (!c->table->filter[0] && !c->table->out_of_memory))
                return 1;
        (void)snprintf(text, sizeof(text), "%s  %s of %s",
                       c->table->out_of_memory  ? "out of memory"
                       : c->entry != ENTRY_NONE ? ""
                                                : SAFE_TEXT(8 * TABLE_TEXT, c->table->filter),
                       COUNT_TEXT(c->table->n), COUNT_TEXT(c->table->n_all));
        (void)canvas_put_right(canvas, area, row, area.width / 2, area.width - area.width / 2 - 1, TINT_WARN, text);
        return text_columns(text) + 3;
}

static void draw_line(struct console *c, struct canvas *canvas, struct area area, int row)
{
        char safe[1024];

        if (c->entry != ENTRY_NONE) {
                (void)draw_restriction(c, canvas, area, row);
                draw_entry(c, canvas, area, row);
        } else if (c->message[0] || c->trouble[0]) {
                (void)canvas_put(canvas, area, row, 1, area.width - 2,
                                 c->trouble[0] || c->message_bad ? TINT_BAD : TINT_GOOD,
                                 safe_text(safe, sizeof(safe), c->message[0] ? c->message : c->trouble));
        } else if (scene_gone(&c->scene, c->shown->class->all_targets ? NULL : c->scene.target, area.width, safe,
                              sizeof(safe))) {
                (void)canvas_put(canvas, area, row, 1, area.width - 2, TINT_BAD, safe);
        } else if (c->shown->class->all_targets && scene_short(&c->scene, safe, sizeof(safe))) {
                (void)canvas_put(canvas, area, row, 1, area.width - 2, TINT_WARN, safe);
        } else {
                draw_keys(c, canvas, area, row, draw_restriction(c, canvas, area, row));
        }
}

/* One tab: its digit, if it is one of the first ten, and its title with its letter highlighted. */
static int draw_tab(struct console *c, struct canvas *canvas, struct area area, int row, int at, size_t index,
                    const char *title)
{
        const struct console_view *v = console_views[index];
        bool shown = c->shown->class == v || (!c->shown->class->letter && c->under && c->under->class == v);
        char digit[2] = { index < 10 ? (char)('0' + (int)index) : '\0', '\0' };
        enum tint tint = shown ? TINT_SELECTED : TINT_HEADING;
        int begin = at;

        at += canvas_put(canvas, area, row, at, 1, shown ? TINT_SELECTED : TINT_HEADING_KEY, digit);
        at += canvas_put(canvas, area, row, at, area.width - at, tint, title);
        hits_add(console_hits(c), (struct area){ area.row + row, area.column + begin, 1, at - begin },
                 (struct hit){ .what = HIT_TAB, .index = index });
        return at;
}

static int tabs_width(bool brief)
{
        int width = 0;

        for (size_t i = 0; console_views[i]; i++) {
                if (console_views[i]->letter)
                        width += 2 + text_columns(brief ? console_views[i]->brief : console_views[i]->title);
        }
        return width;
}

/* The hint has room on every screen: tabs beyond it are cut, and `?` lists them. */
static void draw_tabs(struct console *c, struct canvas *canvas, struct area area, int row)
{
        enum { HINT_ROOM = 7 };
        const struct area tabs = { area.row, area.column, area.height, area.width - HINT_ROOM };
        bool brief = tabs_width(false) + 16 > area.width, is_help = c->shown->class == &view_help;
        int at = 1;

        canvas_tint_row(canvas, area, row, TINT_HEADING);
        for (size_t i = 0; console_views[i]; i++) {
                const struct console_view *v = console_views[i];

                if (v->letter && at < tabs.width)
                        at = draw_tab(c, canvas, tabs, row, at, i, brief ? v->brief : v->title) + 1;
        }
        if (area.width - at > 14)
                (void)canvas_put_right(canvas, area, row, at, area.width - at - 1, TINT_HEADING,
                                       is_help ? "? q back" : "? help  q quit");
        else if (area.width - at > 5)
                (void)canvas_put_right(canvas, area, row, at, area.width - at - 1, TINT_HEADING, "? q");
}

void draw_frame(struct console *c, struct canvas *canvas)
{
        struct area area = canvas_area(canvas);

        draw_top(c, canvas);
        draw_line(c, canvas, area, area.height - 2);
        draw_tabs(c, canvas, area, area.height - 1);
}
