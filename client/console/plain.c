/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c - draws on a canvas that is as tall as the picture wants and prints its rows. */
#include "client/console/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

static int print_canvas(FILE *to, const struct canvas *c)
{
        for (int row = 0; row < c->height; row++) {
                char *text = canvas_row_text(c, row);
                int r;

                if (!text)
                        return -ENOMEM;
                errno = 0;
                r = fprintf(to, "%s\n", text);
                free(text);
                if (r < 0)
                        return errno ? -errno : -EIO;
        }
        return 0;
}

static int print_overview(FILE *to, const struct scene *s, const struct view_target *t, int width, bool ascii)
{
        struct canvas *c = canvas_new(overview_rows(s, t, width) + 1, width, ascii);
        int r;

        if (!c)
                return -ENOMEM;
        draw_overview(c, canvas_area(c), s, t);
        r = print_canvas(to, c);
        canvas_destroy(&c);
        return r;
}

static int print_list(FILE *to, const struct scene *s, int width, bool ascii)
{
        size_t n = view_targets(s->view);
        struct canvas *c = canvas_new(n < CANVAS_MAX - 2 ? (int)n + 2 : CANVAS_MAX, width, ascii);
        int r;

        if (!c)
                return -ENOMEM;
        draw_targets(c, canvas_area(c), s, 0, SIZE_MAX);
        r = print_canvas(to, c);
        canvas_destroy(&c);
        return r;
}

static bool named(const struct view_target *t, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (!strcmp(t->name, names[i]))
                        return true;
        }
        return n == 0;
}

int plain_report(FILE *to, const struct scene *s, const char *const *names, size_t n, bool brief, int width,
                 bool ascii)
{
        char time[HW_NUMBER_MAX];
        size_t targets = view_targets(s->view);
        int r = 0;

        (void)fprintf(to, "heapwatch %s  %zu %s\n", hw_time_text(time, sizeof(time), s->now_wall_ns), targets,
                      targets == 1 ? "target" : "targets");
        if (brief && n == 0 && targets > 1)
                return print_list(to, s, width, ascii);
        for (size_t i = 0; i < targets && r == 0; i++) {
                if (named(view_target(s->view, i), names, n))
                        r = print_overview(to, s, view_target(s->view, i), width, ascii);
        }
        for (size_t i = 0; i < n; i++) {
                if (!view_find(s->view, names[i]))
                        (void)fprintf(to, " %s: no such target\n\n", names[i]);
        }
        return r;
}
