/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * console.c - the whole screen, and where keys go.
 *
 * DESIGN: a key goes to what is being typed, or else to the view, to its table,
 * or to the keys common to all views.
 */
#include "client/console/console.h"

#include <stdlib.h>
#include <string.h>

#include "client/console/draw/keys.h"
#include "client/console/scene/trends.h"
#include "proto/base/array.h"
#include "proto/base/time.h"

static const struct {
        const char *name;
        uint64_t ns;
} windows[] = {
        { "10 s", NS_PER_MINUTE / 6 },
        { "30 s", NS_PER_MINUTE / 2 },
        { "1 min", NS_PER_MINUTE },
        { "5 min", 5 * NS_PER_MINUTE },
        { "10 min", 10 * NS_PER_MINUTE },
        { "30 min", 30 * NS_PER_MINUTE },
        { "1 h", 60 * NS_PER_MINUTE },
        { "3 h", 180 * NS_PER_MINUTE },
        { "12 h", 720 * NS_PER_MINUTE },
        { "24 h", 1440 * NS_PER_MINUTE },
        { "all", 0 },
};

enum { WINDOWS = ARRAY_SIZE(windows), WINDOW_FIRST = 4 };

/* -------------------------------------------------------------- new, destroy */

static bool view_init(struct shown_view *v, const struct console_view *class)
{
        v->class = class;
        if (class->state_size) {
                v->state = calloc(1, class->state_size);
                if (!v->state)
                        return false;
        }
        while (v->n_tables < VIEW_TABLES && class->tables[v->n_tables]) {
                table_init(&v->tables[v->n_tables], class->tables[v->n_tables]);
                v->n_tables++;
        }
        return true;
}

const struct history_options console_past = {
        .points = 4096, .columns = 512, .cells = (size_t)1 << 20, .keep_recent = true
};

struct console *console_new(struct world *world, bool live)
{
        struct console *c = calloc(1, sizeof(*c));
        size_t n = 0;
        bool ok;

        if (!c)
                return NULL;
        c->scene.world = c->live = world;
        c->scene.band = &c->band_past;
        c->scene.answered = calloc(1, sizeof(*c->scene.answered));
        c->scene.live = live;
        c->scene.run_time = !live; /* for a finished log the time of day says little */
        c->daemon = SIZE_MAX;
        c->window = WINDOW_FIRST;
        c->scene.window_ns = windows[c->window].ns;
        while (console_views[n])
                n++;
        c->views = calloc(n, sizeof(*c->views));
        ok = c->scene.answered && c->views;
        for (; ok && c->n_views < n; c->n_views++)
                ok = view_init(&c->views[c->n_views], console_views[c->n_views]);
        if (!ok)
                console_destroy(&c);
        else
                console_show(c, &view_overview);
        return c;
}

void console_destroy(struct console **c)
{
        if (!*c)
                return;
        for (size_t i = 0; i < (*c)->n_views; i++) {
                struct shown_view *v = &(*c)->views[i];
                for (size_t n = 0; n < v->n_tables; n++)
                        table_done(&v->tables[n]);
                if (v->state && v->class->state_done)
                        v->class->state_done(v->state);
                free(v->state);
        }
        free((*c)->views);
        world_destroy(&(*c)->before);
        recall_destroy(&(*c)->scene.recall);
        (void)command_poll(*c); /* one that is done */
        console_inspections_done(*c);
        past_done(&(*c)->band_past);
        free((*c)->scene.answered);
        free(*c);
        *c = NULL;
}

/* ----------------------------------------------------------- what there is */

/*
 * The target to show. It never changes by itself: the first one shown counts as chosen from then on, and one that a
 * restarted daemon does not have is shown as it was.
 */
static void find_target(struct console *c)
{
        size_t index;

        c->scene.left = false;
        c->scene.world = c->live;
        c->scene.target = console_find_target(c, &index);
        if (c->scene.target) {
                (void)snprintf(c->target, sizeof(c->target), "%s", c->scene.target->name);
                c->daemon = c->scene.target->daemon;
                if (!c->frozen)
                        world_destroy(&c->before);
        } else if (c->before && !c->shown->class->all_targets) {
                c->scene.world = c->before;
                c->scene.target = console_find_target(c, &index);
                c->scene.left = c->scene.target != NULL;
                if (!c->scene.left)
                        c->scene.world = c->live;
        }
}

/* Of a large fleet only what is shown has notes, all trends and a whole past; the daemon remembers the others'. */
static void focus_target(const struct console *c)
{
        const struct world_target *t = c->scene.target;

        if (!t || !c->scene.recall || c->frozen || c->scene.left || !world_focus(c->live, t))
                return;
        recall_forget(c->scene.recall, t->daemon, t->name);
        recall_rest(c->scene.recall, t);
}

void console_prepare(struct console *c, uint64_t now_wall_ns)
{
        if (!c->frozen)
                c->scene.now_wall_ns = now_wall_ns;
        if (c->scene.recall && !c->frozen)
                (void)recall_collect(c->scene.recall, c->live);
        find_target(c);
        focus_target(c);
        console_inspections_prepare(c);
        c->scene.answered->t = c->scene.answered->brief = NULL;
        if (c->scene.target && !c->scene.left)
                timeline_recall(c);
        for (size_t i = 0; i < c->shown->n_tables; i++)
                table_fill(&c->shown->tables[i], c, &c->scene);
}

void console_watch(struct console *c, size_t daemon, const Hw__Update *update)
{
        journal_watch(&c->journal, c->live, daemon, update);
}

void console_forget(struct console *c, size_t daemon)
{
        if (world_targets(c->live))
                journal_daemon(&c->journal, c->live, daemon, "the daemon was restarted");
        if (world_targets(c->live) && !c->scene.left) {
                world_destroy(&c->before);
                c->before =
                        world_detach(c->live, daemon); /* NULL when out of memory: the data is lost with the daemon */
        }
        if (c->scene.recall)
                recall_forget(c->scene.recall, daemon, NULL);
}

/* --------------------------------------------------------------- the screen */

/* What the daemon watches instead of the chosen target; or how to make it watch something. */
static void format_targets(char *out, size_t size, const struct world *world, const struct world_daemon *d)
{
        size_t n = world_targets(world), all = d->state ? d->state->n_targets : 0;
        size_t used;

        if (n || !all) {
                (void)snprintf(out, size, n ? "t shows the %zu that %s." : "heapwatch run -- PROGRAM watches one.", n,
                               n == 1 ? "is" : "are");
                return;
        }
        used = (size_t)snprintf(out, size, "The daemon watches:");
        for (size_t i = 0; i < all && used < size; i++)
                used += (size_t)snprintf(out + used, size - used, "%s %s", i ? "," : "", d->state->targets[i]);
}

static const char how_to_watch[] = "Watch one: heapwatch run -- PROGRAM, or heapwatch ps and heapwatch attach PID";

static void draw_nothing(const struct console *c, struct canvas *canvas, struct area area)
{
        const struct scene *s = &c->scene;
        const struct world_daemon *d = world_daemon(s->world, 0);
        char line[600], next[600] = "", safe[4 * sizeof(next)], name[SHORT_TEXT];

        if (c->trouble[0] || !s->live) {
                (void)snprintf(line, sizeof(line), "%s", c->trouble[0] ? c->trouble : "reading ...");
        } else if (d && c->target[0]) {
                (void)snprintf(line, sizeof(line), "%.64s is not watched now.",
                               safe_text(name, sizeof(name), c->target));
                format_targets(next, sizeof(next), s->world, d);
        } else if (d) {
                (void)snprintf(line, sizeof(line), "The daemon watches no target.");
                (void)snprintf(next, sizeof(next), "%s", how_to_watch);
        } else {
                (void)snprintf(line, sizeof(line), "Waiting for a daemon at %s",
                               s->endpoint ? s->endpoint(s->endpoint_ctx, 0) : "?");
                (void)snprintf(next, sizeof(next), "%s", how_to_watch);
        }
        (void)canvas_put(canvas, area, 1, 2, area.width - 4, TINT_STRONG, line);
        (void)canvas_put(canvas, area, 3, 2, area.width - 4, TINT_DIM, safe_text(safe, sizeof(safe), next));
}

void console_draw(struct console *c, struct canvas *canvas)
{
        struct area area = area_below(canvas_area(canvas), FRAME_TOP);
        const struct console_view *class = c->shown->class;
        const bool has_data = c->scene.target || (class->all_targets && world_targets(c->scene.world));

        c->hits.n = 0;
        area.height -= FRAME_BOTTOM;
        if (area.height < 1)
                return;
        if (!has_data && class != &view_help)
                draw_nothing(c, canvas, area);
        else if (class->draw)
                class->draw(c, canvas, area);
        else
                console_table(c, canvas, area, &c->shown->tables[0]);
        draw_frame(c, canvas);
}

/* ---------------------------------------------------------- time and freeze */

static void step_window(struct console *c, int by)
{
        if (by > 0 ? c->window + 1 < WINDOWS : c->window > 0)
                c->window += (size_t)by;
        c->scene.window_ns = windows[c->window].ns;
}

const char *console_window(const struct console *c)
{
        return windows[c->window].name;
}

/* The cursor begins at the newest moment and stays within what is shown. */
static void step_cursor(struct console *c, int by)
{
        uint64_t step_ns = c->step_ns;
        struct time_range range;

        if (!c->scene.target)
                return;
        range = scene_span(&c->scene, c->scene.target);
        if (!step_ns)
                step_ns = (range.to_ns - range.from_ns) / 100 + 1;
        if (!c->has_cursor || c->cursor_ns > range.to_ns)
                c->cursor_ns = range.to_ns;
        else if (by > 0)
                c->cursor_ns = range.to_ns - c->cursor_ns > step_ns ? c->cursor_ns + step_ns : range.to_ns;
        else
                c->cursor_ns = c->cursor_ns > range.from_ns + step_ns ? c->cursor_ns - step_ns : range.from_ns;
        c->has_cursor = true;
}

/* The cursor's moment, where there is one, or now. */
static void set_mark(struct console *c)
{
        const struct world_target *t = c->scene.target;
        struct scene_mark *m = &c->scene.mark;
        char when[SHORT_TEXT];

        if (!t || !t->event_time_ns) {
                console_notify(c, true, "nothing to mark: no target is shown");
                return;
        }
        *m = (struct scene_mark){ .is_set = true,
                                  .time_ns = c->has_cursor ? c->cursor_ns : t->event_time_ns,
                                  .run = t->run };
        (void)snprintf(m->target, sizeof(m->target), "%s", t->name);
        console_notify(c, false, "marked %s: Bands and Memory show what was gained since mark",
                       scene_when(when, sizeof(when), &c->scene, t, m->time_ns));
}

/* -------------------------------------------------------------------- keys */

/* Keys with the same meaning in every view. */
static void common_key(struct console *c, int key)
{
        const bool is_help = c->shown->class == &view_help;
        const struct console_view *view = NULL;

        for (size_t i = 0; !view && console_views[i]; i++) {
                const struct console_view *v = console_views[i];
                if (v->letter && (key == v->letter || (i < 10 && key == '0' + (int)i) || key == SCREEN_F0 + (int)i))
                        view = v;
        }
        if (view)
                console_show(c, view);
        else if (is_help && (key == 'q' || key == '?'))
                console_back(c);
        else if (key == 'q')
                c->quit = true;
        else if (key == ' ')
                c->frozen = !c->frozen;
        else if (key == '?')
                console_show(c, &view_help);
        else if (key == 'c') {
                c->scene.run_time = !c->scene.run_time;
                console_notify(c, false,
                               c->scene.run_time
                                       ? "moments are shown as time since the program started"
                                       : "moments are shown as time of day, where the program's start is known");
        } else if (key == '+' || key == '=')
                step_window(c, 1);
        else if (key == '-')
                step_window(c, -1);
        else if (key == SCREEN_LEFT || key == SCREEN_RIGHT)
                step_cursor(c, key == SCREEN_RIGHT ? 1 : -1);
        else if (key == '/' || key == 'f')
                entry_begin(c, key == '/' ? ENTRY_SEARCH : ENTRY_FILTER);
        else if (key == 'n' || key == 'N') {
                if (!c->table || !c->table->search[0])
                        console_notify(c, false, "nothing to search for yet: / begins a search");
                else if (!table_find(c->table, key == 'n' ? 1 : -1, false))
                        console_notify(c, true, "'%.60s' is not found", c->table->search);
        } else if (key == 's')
                console_save(c);
        else if (key == 'M')
                set_mark(c);
        else if (key == 'C')
                command_key(c);
        else if (key == 'P' || key == 'A')
                console_profile_key(c, key);
        else if (key == 'W')
                console_threads_key(c);
        else if (key == '.' || key == ',')
                console_step_target(c, key == '.' ? 1 : -1);
        else if (key == SCREEN_ESCAPE && c->has_cursor)
                c->has_cursor = false;
        else if (key == SCREEN_ESCAPE && c->shown->class->letter && world_targets(c->scene.world) > 1)
                console_show(c, &view_targets_list); /* from one of several targets */
        else if (key == SCREEN_ESCAPE)
                console_back(c);
}

/* Keys go to the view's next table that has rows. */
static void next_table(struct console *c)
{
        size_t i = 0;

        if (!c->table)
                return;
        while (&c->shown->tables[i] != c->table)
                i++;
        for (size_t k = 1; k < c->shown->n_tables; k++) {
                struct table *next = &c->shown->tables[(i + k) % c->shown->n_tables];
                if (next->n || k + 1 == c->shown->n_tables) {
                        c->table = next;
                        return;
                }
        }
}

void console_key(struct console *c, int key)
{
        const struct console_view *class = c->shown->class;

        c->message[0] = '\0';
        if (c->entry != ENTRY_NONE)
                entry_key(c, key);
        else if (key == SCREEN_TAB && c->shown->n_tables > 1)
                next_table(c);
        else if (!(class->key && class->key(c, key)) && !(c->table && table_key(c->table, &c->scene, c, key)))
                common_key(c, key);
}

/* ------------------------------------------------------------------- mouse */

void console_click(struct console *c, int row, int column, bool twice)
{
        const struct hit *hit = hits_at(&c->hits, row, column);

        c->message[0] = '\0';
        if (!hit)
                return;
        if (hit->what == HIT_TAB)
                console_show(c, console_views[hit->index]);
        else if (hit->what == HIT_COLUMN)
                table_sort(hit->table, hit->index);
        else if (hit->what == HIT_ROW) {
                c->table = hit->table;
                if (hit->index < hit->table->n)
                        table_select(hit->table, hit->index);
                if (twice)
                        console_key(c, SCREEN_ENTER);
        } else if (hit->what == HIT_TIME) {
                double share = ((double)(column - hit->area.column) + 0.5) / (double)hit->area.width;

                c->cursor_ns = hit->range.from_ns + (uint64_t)(share * (double)(hit->range.to_ns - hit->range.from_ns));
                c->has_cursor = true;
        }
}

void console_wheel(struct console *c, int by)
{
        for (int i = 0; i < 3; i++)
                console_key(c, by > 0 ? SCREEN_DOWN : SCREEN_UP);
}
