/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * console.c - the loop: updates and keys in, pictures out.
 *
 * DESIGN: updates are taken as they come and only mark the picture dirty; it
 * is drawn at most ten times a second, and once a second without news because
 * ages grow. A frozen picture stays while updates go on being taken, so
 * nothing is lost and going on is instant.
 */
#include "client/console/console.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/command.h"
#include "client/console/screen.h"
#include "client/signals.h"

#define AGE_NS UINT64_C(1000000000)     /* ages are redrawn this often */
#define TURN_UPDATES 2000               /* updates taken before keys are looked at again */

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------- the choice */

const struct view_target *console_target(const struct console *c, size_t *ret_index)
{
        size_t n = view_targets(c->view);

        *ret_index = 0;
        for (size_t i = 0; i < n; i++) {
                const struct view_target *t = view_target(c->view, i);

                if (!strcmp(t->name, c->target) && (t->daemon == c->daemon || c->daemon == SIZE_MAX)) {
                        *ret_index = i;
                        return t;
                }
        }
        return view_target(c->view, 0);
}

void console_choose(struct console *c, size_t index)
{
        const struct view_target *t = view_target(c->view, index);

        if (!t)
                return;
        memcpy(c->target, t->name, sizeof(c->target));
        c->daemon = t->daemon;
}

/* -------------------------------------------------------------- the picture */

static void draw_footer(struct console *c, struct canvas *canvas)
{
        struct area area = canvas_area(canvas);
        const char *state = c->frozen ? "FROZEN: space goes on" : c->ended ? "end of file" : "";
        int keys;

        if (c->trouble[0])
                state = c->trouble;
        area.row = canvas->height - 1;
        area.height = 1;
        keys = canvas_put(canvas, area, 0, 1, area.width - 2, TINT_DIM, c->shown->keys);
        (void)canvas_put_right(canvas, area, 0, keys + 3, area.width - keys - 4,
                               c->trouble[0] ? TINT_BAD : TINT_WARN, state);
}

static void draw_nothing(struct console *c, struct canvas *canvas)
{
        char line[600];
        struct area area = canvas_area(canvas);

        if (c->trouble[0] || !c->scene.live)
                (void)snprintf(line, sizeof(line), "%s", c->trouble[0] ? c->trouble : "reading ...");
        else if (view_daemon(c->view, 0))
                (void)snprintf(line, sizeof(line), "The daemon watches no target; add one: heapwatch ctl add FILE");
        else
                (void)snprintf(line, sizeof(line), "Waiting for a daemon at %s", feed_endpoint(c->feed, 0));
        (void)canvas_put(canvas, area, 1, 2, area.width - 4, TINT_STRONG, line);
        if (c->scene.live && !view_daemon(c->view, 0))
                (void)canvas_put(canvas, area, 3, 2, area.width - 4, TINT_DIM,
                                 "Start one with: heapwatchd FILE.eventlog");
}

static void draw(struct console *c)
{
        struct canvas *canvas;
        struct area area;
        int height, width;

        screen_size(&height, &width);
        canvas = canvas_new(height, width, !screen_has_utf8());
        if (!canvas)
                return;
        c->scene.now_wall_ns = clock_ns(CLOCK_REALTIME);
        area = canvas_area(canvas);
        area.height--;
        if (!view_targets(c->view) && c->shown != &view_help)
                draw_nothing(c, canvas);
        else
                c->shown->draw(c, canvas, area);
        draw_footer(c, canvas);
        screen_show(canvas);
        canvas_destroy(&canvas);
}

/* --------------------------------------------------------------------- keys */

static void handle_key(struct console *c, int key)
{
        c->dirty = true;
        if (key == 'q') {
                c->quit = true;
        } else if (key == ' ') {
                c->frozen = !c->frozen;
        } else if (key == '?' || key == 'h') {
                c->under = c->shown == &view_help ? c->under : c->shown;
                c->shown = c->shown == &view_help ? c->under : &view_help;
                c->frozen = false;
        } else if (key != SCREEN_RESIZED && c->shown->key(c, key)) {
                c->frozen = false;
        }
}

static void take_keys(struct console *c)
{
        int key;

        while ((key = screen_key()) != SCREEN_NONE) {
                handle_key(c, key);
                if (key == SCREEN_RESIZED)
                        c->frozen = false; /* the old picture does not fit any more */
        }
}

/* ------------------------------------------------------------------ updates */

static void take_event(struct console *c, enum feed_event event, const Hw__Update *update)
{
        size_t daemon = feed_daemon(c->feed);

        c->dirty = true;
        switch (event) {
        case FEED_UPDATE:
                if (view_apply(c->view, daemon, update) < 0)
                        (void)snprintf(c->trouble, sizeof(c->trouble), "out of memory: the picture is incomplete");
                break;
        case FEED_RESET:
                view_reset(c->view, daemon);
                break;
        case FEED_STALE:
                view_set_stale(c->view, daemon, true);
                break;
        case FEED_ALIVE:
        case FEED_READY:
                view_set_stale(c->view, daemon, false);
                break;
        case FEED_END:
                c->ended = true;
                break;
        case FEED_FAILED:
                c->ended = true;
                (void)snprintf(c->trouble, sizeof(c->trouble), "%s", feed_error(c->feed));
                break;
        default:
                break;
        }
}

static void take_updates(struct console *c)
{
        const Hw__Update *update = NULL;

        for (int i = 0; i < TURN_UPDATES && !c->ended; i++) {
                enum feed_event event = feed_next(c->feed, 0, &update);

                if (event == FEED_NOTHING)
                        return;
                take_event(c, event, update);
        }
}

/* Several targets and none asked for: the list is where one starts. */
static void choose_view(struct console *c)
{
        if (c->shown == &view_overview && !c->chosen && view_targets(c->view) > 1)
                c->shown = &view_list;
}

static void wait_for_news(struct console *c, uint64_t until_ns)
{
        struct pollfd fds[2] = {
                { .fd = STDIN_FILENO, .events = POLLIN },
                { .fd = feed_fd(c->feed), .events = POLLIN },
        };
        uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        int ms = until_ns > now_ns ? (int)((until_ns - now_ns) / 1000000) + 1 : 0;

        /* The feed's descriptor is a hint: never sleep long on it. With news at hand only the next picture is due. */
        (void)poll(fds, c->ended || c->dirty ? 1 : 2, ms > 100 ? 100 : ms);
        if (fds[0].revents & (POLLHUP | POLLERR))
                c->quit = true; /* the terminal is gone */
}

static void loop(struct console *c)
{
        uint64_t drawn_ns = 0;

        while (!c->quit && !signals_stop()) {
                uint64_t now_ns;

                take_keys(c);
                take_updates(c);
                choose_view(c);
                now_ns = clock_ns(CLOCK_MONOTONIC);
                if (c->dirty ? now_ns - drawn_ns >= c->interval_ns : now_ns - drawn_ns >= AGE_NS && !c->ended) {
                        if (!c->frozen)
                                draw(c);
                        c->dirty = false;
                        drawn_ns = now_ns;
                }
                wait_for_news(c, drawn_ns + (c->dirty ? c->interval_ns : AGE_NS));
        }
}

static const char *endpoint_of(const void *feed, size_t daemon)
{
        return feed_endpoint(feed, daemon);
}

int console_run(struct feed *feed, struct view *view, const char *target, uint64_t interval_ns)
{
        struct console c = {
                .feed = feed,
                .view = view,
                .scene = { .view = view, .endpoint = endpoint_of, .endpoint_ctx = feed, .live = feed_is_live(feed) },
                .shown = &view_overview,
                .under = &view_overview,
                .daemon = SIZE_MAX,
                .chosen = target != NULL,
                .dirty = true,
                .interval_ns = interval_ns,
        };

        if (target)
                (void)snprintf(c.target, sizeof(c.target), "%s", target);
        if (screen_open() < 0) {
                command_error(&command_top, "this terminal cannot be drawn on; use --plain");
                return EXIT_USAGE;
        }
        loop(&c);
        screen_close();
        if (c.trouble[0])
                command_error(&command_top, "%s", c.trouble);
        return c.trouble[0] ? EXIT_USAGE : EXIT_OK;
}
