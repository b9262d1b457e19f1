/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain.c - a report: each view drawn on a canvas as tall as it needs, or its
 * figures and tables as one line of JSON.
 */
#include "client/console/console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

enum { RECALL_MS = 2000 };

/* -------------------------------------------------------------------- text */

static int print_view(FILE *to, struct console *c, const struct plain_options *o)
{
        const struct console_view *class = c->shown->class;
        struct canvas *canvas;
        int r;

        if (!class->rows)
                return table_print(to, &c->shown->tables[0], &c->scene, o->width, o->ascii);
        canvas = canvas_new(class->rows(c, o->width), o->width, o->ascii);
        if (!canvas)
                return -ENOMEM;
        canvas->mono = true;
        class->draw(c, canvas, canvas_area(canvas));
        r = canvas_print(to, canvas, 0);
        canvas_destroy(&canvas);
        return r;
}

/* ------------------------------------------------------------------ report */

static bool is_named(const struct world_target *t, const struct plain_options *o)
{
        for (size_t i = 0; i < o->n_targets; i++) {
                if (!strcmp(t->name, o->targets[i]))
                        return true;
        }
        return o->n_targets == 0;
}

/* Waits for what the daemon remembers: a report has no next frame that could show it. */
static void prepare_console(struct console *c, uint64_t now_wall_ns)
{
        console_prepare(c, now_wall_ns);
        if (!c->scene.recall)
                return;
        recall_wait(c->scene.recall, RECALL_MS);
        console_prepare(c, now_wall_ns);
}

static int report_target(struct json_out *j, struct console *c, const struct plain_options *o, uint64_t now_wall_ns)
{
        prepare_console(c, now_wall_ns);
        if (!o->json) {
                int r = print_view(j->to, c, o);

                (void)fputc('\n', j->to);
                return r;
        }
        const struct console_view *class = c->shown->class;

        json_open(j, '{');
        json_member_text(j, "target", c->scene.target->name);
        for (size_t i = 0; i < class->n_figures; i++) {
                json_key(j, column_name(&class->figures[i]));
                value_json(j, column_value(&class->figures[i], &c->scene, c->scene.target));
        }
        for (size_t i = 0; i < c->shown->n_tables; i++) {
                json_key(j, class->tables[i]->name);
                table_json(j, &c->scene, &c->shown->tables[i]);
        }
        json_close(j, '}');
        return 0;
}

static int report_each(struct json_out *j, struct console *c, const struct plain_options *o, uint64_t now_wall_ns)
{
        const struct world *world = c->scene.world;
        int r = 0;

        for (size_t i = 0; i < world_targets(world) && r == 0; i++) {
                const struct world_target *t = world_target(world, i);

                if (!is_named(t, o))
                        continue;
                console_choose(c, t);
                r = report_target(j, c, o, now_wall_ns);
        }
        for (size_t i = 0; i < o->n_targets && !o->json; i++) {
                if (!world_find(world, o->targets[i]))
                        (void)fprintf(j->to, " %s: no such target\n\n", o->targets[i]);
        }
        return r;
}

static int report_all(struct json_out *j, struct console *c, const struct plain_options *o, uint64_t now_wall_ns)
{
        console_prepare(c, now_wall_ns);
        if (!o->json) {
                /* Drawing rows requests what the daemon remembers, so draw once for nobody, then for real. */
                FILE *nowhere = c->scene.recall ? fopen("/dev/null", "w") : NULL;
                int r = nowhere ? print_view(nowhere, c, o) : 0;

                if (nowhere) {
                        (void)fclose(nowhere);
                        prepare_console(c, now_wall_ns);
                }
                return r < 0 ? r : print_view(j->to, c, o);
        }
        table_json(j, &c->scene, &c->shown->tables[0]);
        return 0;
}

int plain_report(FILE *to, struct console *c, const struct plain_options *o, uint64_t now_wall_ns)
{
        struct json_out j = { .to = to };
        char time[HW_NUMBER_MAX];
        int (*report)(struct json_out *, struct console *, const struct plain_options *, uint64_t);
        bool list;
        int r;

        c->printing = true;
        bool fleet = !o->view && o->brief && o->n_targets == 0 && world_targets(c->scene.world) > 1;

        console_show(c, fleet ? &view_targets_list : o->view ? console_view_of(c, o->view)->class : &view_overview);
        report = c->shown->class->all_targets ? report_all : report_each;
        list = o->json && report == report_each;
        (void)hw_time_text(time, sizeof(time), now_wall_ns);
        if (o->json) {
                json_open(&j, '{');
                json_member_text(&j, "time", time);
                json_member_text(&j, "view", c->shown->class->name);
                json_key(&j, list ? "targets" : c->shown->class->tables[0]->name);
                if (list)
                        json_open(&j, '[');
        } else {
                const size_t n = world_targets(c->scene.world);
                char text[512];

                (void)fprintf(to, "heapwatch %s  %zu %s\n", time, n, n == 1 ? "target" : "targets");
                /* Of all targets: each has caveats of its own, in its overview. */
                if (c->shown->class->all_targets && scene_short(&c->scene, text, sizeof(text)))
                        (void)fprintf(to, " %s\n", text);
        }
        r = report(&j, c, o, now_wall_ns);
        if (list)
                json_close(&j, ']');
        if (o->json) {
                json_close(&j, '}');
                json_newline(&j);
        }
        return r;
}
