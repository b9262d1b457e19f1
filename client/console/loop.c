/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.c - a console joined to a terminal and a feed: updates and keys in,
 * frames out.
 *
 * DESIGN: updates are applied as they come and only mark the screen dirty; it
 * is drawn at most ten times a second, and once a second without updates
 * because ages grow. While the screen is frozen what comes is held, and applied
 * at once afterwards. What is more than HELD_MOST waits in the feed, which then
 * requests the newest state.
 */
#include "client/console/console.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/cli/signals.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"

#define AGE_NS       UINT64_C(1000000000) /* how often ages are redrawn */
#define HINT_NS      UINT64_C(100000000)  /* how long nothing at the feed's descriptor is believed */
#define TURN_UPDATES 2000                 /* updates taken before keys are checked again */
#define HELD_MOST    200000               /* about 100 MB: hours of one target, two minutes of a thousand */

/* What came while the screen is frozen. */
struct held {
        enum feed_event event;
        size_t daemon;
        const Hw__Update *update; /* a reference; NULL: the event is no update */
};

struct loop {
        struct feed *feed;
        struct world *world;
        struct console *console;
        uint64_t interval_ns; /* least time between frames */
        uint64_t drawn_ns;
        bool dirty;   /* something has changed since the last frame */
        bool pressed; /* a key was pressed since the last frame */
        bool settled; /* the first view has been decided */
        struct held *held;
        uint32_t n_held, cap_held;
};

/* --------------------------------------------------------------- the screen */

static void redraw_screen(struct loop *l)
{
        struct canvas *canvas;
        int height, width;

        screen_size(&height, &width);
        canvas = canvas_new(height, width, !screen_has_utf8());
        if (!canvas)
                return;
        canvas->mono = !screen_has_colours();
        console_prepare(l->console, clock_wall_ns());
        console_draw(l->console, canvas);
        screen_show(canvas);
        canvas_destroy(&canvas);
}

/* --------------------------------------------------------------------- keys */

/*
 * Keys are answered at once: the next frame is not held back. Each key finds the rows as they are now: nothing is taken
 * from the feed between two keys, and entry.c itself fills the rows again while one types.
 */
static void handle_keys(struct loop *l)
{
        bool first = true;
        int key, row, column;

        for (; (key = screen_key()) != SCREEN_NONE; first = false) {
                if (first || l->console->entry == ENTRY_NONE)
                        console_prepare(l->console, clock_wall_ns());
                screen_mouse(&row, &column);
                if (key == SCREEN_CLICK || key == SCREEN_CLICK_TWICE)
                        console_click(l->console, row, column, key == SCREEN_CLICK_TWICE);
                else if (key == SCREEN_WHEEL_UP || key == SCREEN_WHEEL_DOWN)
                        console_wheel(l->console, key == SCREEN_WHEEL_DOWN ? 1 : -1);
                else if (key != SCREEN_RESIZED)
                        console_key(l->console, key);
                l->pressed = true;
        }
}

/* ------------------------------------------------------------------ updates */

static void handle_event(struct loop *l, enum feed_event event, size_t daemon, const Hw__Update *update)
{
        struct console *c = l->console;

        l->dirty = true;
        switch (event) {
        case FEED_UPDATE:
                console_watch(c, daemon, update);
                if (world_apply(l->world, daemon, update) < 0)
                        (void)snprintf(c->trouble, sizeof(c->trouble), "out of memory: the data is incomplete");
                break;
        case FEED_RESET:
                console_forget(c, daemon);
                world_reset(l->world, daemon);
                break;
        case FEED_STALE:
                journal_daemon(&c->journal, l->world, daemon, "the daemon is silent");
                world_set_stale(l->world, daemon, true);
                break;
        case FEED_ALIVE:
                journal_daemon(&c->journal, l->world, daemon, "the daemon is back");
                world_set_stale(l->world, daemon, false);
                break;
        case FEED_READY:
                world_set_stale(l->world, daemon, false);
                break;
        case FEED_END:
                c->ended = true;
                break;
        case FEED_FAILED:
                c->ended = true;
                (void)snprintf(c->trouble, sizeof(c->trouble), "%s", feed_error(l->feed));
                break;
        default:
                break;
        }
}

static bool can_receive(struct loop *l)
{
        return !l->console->ended &&
               (!l->console->frozen || (l->n_held < HELD_MOST && ARRAY_RESERVE(l->held, l->cap_held, l->n_held + 1)));
}

static void apply_held(struct loop *l, bool wanted)
{
        for (uint32_t i = 0; i < l->n_held; i++) {
                if (wanted)
                        handle_event(l, l->held[i].event, l->held[i].daemon, l->held[i].update);
                hw_update_unref(l->held[i].update);
        }
        free(l->held);
        l->held = NULL;
        l->n_held = l->cap_held = 0;
}

static void receive_updates(struct loop *l)
{
        const Hw__Update *update = NULL;

        if (!l->console->frozen)
                apply_held(l, true);
        for (int i = 0; i < TURN_UPDATES && can_receive(l); i++) {
                enum feed_event event = feed_next(l->feed, 0, &update);
                size_t daemon = feed_daemon(l->feed);

                if (event == FEED_NOTHING)
                        return;
                if (l->console->frozen && event != FEED_END && event != FEED_FAILED)
                        l->held[l->n_held++] =
                                (struct held){ event, daemon, event == FEED_UPDATE ? hw_update_ref(update) : NULL };
                else
                        handle_event(l, event, daemon, update);
        }
}

static void wait_for_news(struct loop *l, uint64_t until_ns)
{
        /* When dirty, only the next frame is awaited; a frozen screen has none. */
        bool awaits = (!l->dirty || l->console->frozen) && can_receive(l);
        const struct recall *recall = l->console->scene.recall;
        struct pollfd fds[3] = {
                { .fd = STDIN_FILENO, .events = POLLIN },
                { .fd = awaits ? feed_fd(l->feed) : -1, .events = POLLIN },
                { .fd = awaits && recall ? recall_fd(recall) : -1, .events = POLLIN },
        };
        const uint64_t now_ns = clock_mono_ns(), wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;

        /* The feed's descriptor is a hint: never sleep long on it. */
        (void)poll(fds, ARRAY_SIZE(fds), (int)((wait_ns < HINT_NS ? wait_ns : HINT_NS) / 1000000) + 1);
        if (fds[0].revents & (POLLHUP | POLLERR))
                l->console->quit = true; /* the terminal was closed */
}

/* When the next frame is due, on the monotonic clock; UINT64_MAX: not before something happens. */
static uint64_t due_ns(const struct loop *l)
{
        if (l->pressed)
                return 0;
        if (l->console->frozen)
                return UINT64_MAX;
        if (l->dirty)
                return l->drawn_ns + l->interval_ns;
        return l->console->ended ? UINT64_MAX : l->drawn_ns + AGE_NS;
}

static void run_loop(struct loop *l)
{
        while (!l->console->quit && !signals_stop()) {
                handle_keys(l);
                receive_updates(l);
                if (l->console->scene.recall && recall_pump(l->console->scene.recall))
                        l->dirty = true;
                if (command_poll(l->console) || console_inspections_poll(l->console))
                        l->dirty = l->pressed = true;
                /* With several targets and none given, the console starts with the list. */
                if (l->pressed || l->console->chosen)
                        l->settled = true;
                if (!l->settled && world_targets(l->world) > 1) {
                        console_show(l->console, &view_targets_list);
                        l->console->target[0] = '\0'; /* the first one that came was not chosen by the user */
                        l->settled = true;
                }
                const uint64_t now_ns = clock_mono_ns();
                if (now_ns >= due_ns(l)) {
                        redraw_screen(l);
                        l->dirty = l->pressed = false;
                        l->drawn_ns = now_ns;
                }
                wait_for_news(l, due_ns(l));
        }
}

int console_run(struct feed *feed, struct world *world, const char *view_name, const char *target, uint64_t interval_ns)
{
        struct loop l = { .feed = feed, .world = world, .dirty = true, .interval_ns = interval_ns };
        int status = EXIT_USAGE;

        l.console = console_new(world, feed_is_live(feed));
        if (!l.console)
                return EXIT_USAGE;
        l.console->scene.endpoint = feed_endpoint_of;
        l.console->scene.endpoint_ctx = feed;
        l.console->chosen = target != NULL;
        l.console->scene.recall = recall_new(feed_requester(feed));
        if (target)
                (void)snprintf(l.console->target, sizeof(l.console->target), "%s", target);
        if (view_name) {
                console_show(l.console, console_view_of(l.console, view_name)->class);
                l.settled = true;
        }
        if (screen_open() < 0) {
                command_error(&command_top, "this terminal cannot be drawn on; use --plain");
        } else {
                run_loop(&l);
                screen_close();
                status = l.console->trouble[0] ? EXIT_USAGE : EXIT_OK;
                if (status != EXIT_OK)
                        command_error(&command_top, "%s", l.console->trouble);
        }
        apply_held(&l, false);
        console_destroy(&l.console);
        return status;
}
