/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * web.c - `heapwatch web`: a subscriber that answers browsers.
 *
 * DESIGN: one libevent loop for the feed, the requests to daemons and HTTP.
 */
#include "client/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/world/feed/feed.h"
#include "client/world/feed/selection.h"
#include "client/page/assets.h"
#include "client/web/server.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

#define HISTORY_CELLS       ((size_t)1 << 20) /* 32 MiB at most, for bands finer than the daemons keep them */
#define HISTORY_POINTS      256               /* of a live target: enough for a small curve; daemons have more */
#define HISTORY_COLUMNS     1024
#define HISTORY_FILE_CELLS  ((size_t)4 << 20) /* files: no daemon has more */
#define HISTORY_FILE_POINTS 8192

struct web {
        struct selection from;
        struct text_list hosts;
        struct text_list logs; /* the targets of the files, in their order; owned */
        struct server_options options;
        const char *listen, *port, *token_file, *db; /* listen NULL: not given */
        bool no_token, token_made;
        struct event_base *base;
        struct feed_loop loop;
        struct feed *feed;
        struct world *world;
        struct hw_requester *requester; /* NULL: files */
        struct event *replies;
        struct state_source state;
        struct connections *connections;
        struct streams *streams;
        struct api_history *api_history;
        char archive_path[PATH_MAX];                 /* "": files, or no home for one */
        struct worker *archive_worker, *diff_worker; /* a comparison does not wait for the archive */
        struct worker *query_worker;                 /* nor for a query */
        struct worker *program_worker;               /* nor does anything for a program that comes to no census */
        struct inspections *inspections;
        struct server *server;
        char address[32]; /* of --port */
        int status;
        bool announced; /* its address is printed */
};

/* ------------------------------------------------------------------- options */

static const struct option options[] = {
        OPERAND_LIST("FILE...", 0, struct web, from.files, COMPLETE_FILE, NULL),
        OPTION_TEXT(
                "listen", 0, "ADDRESS:PORT", struct web, listen, COMPLETE_NOTHING,
                "where to serve (default 127.0.0.1:8077; port 0: any), or unix:PATH for a proxy of this machine; an "
                "address that others can reach needs --token-file"),
        OPTION_TEXT("port", 0, "PORT", struct web, port, COMPLETE_NOTHING, "the same as --listen 127.0.0.1:PORT"),
        OPTION_CONNECT(struct web, from.endpoints),
        OPTION_TEXT("token-file", 0, "FILE", struct web, token_file, COMPLETE_FILE,
                    "the token that clients must have: this private file's first line (16 to 512 characters), or lines "
                    "NAME ROLE TOKEN of several, with the roles read, silence and control; open "
                    "the page as /?token=TOKEN once, or send it as a Bearer token; default: a new one that the printed "
                    "address has"),
        OPTION_FLAG("no-token", 0, struct web, no_token, "answer every user of this machine, without a token"),
        OPTION_LIST("host", 0, "NAME", struct web, hosts, COMPLETE_NOTHING,
                    "accept this name or address, too, behind a proxy or in a network; may be repeated"),
        OPTION_TEXT("db", 0, "FILE", struct web, db, COMPLETE_FILE,
                    "the archive that ranges of time reach back into; default: that of `heapwatch archive`, once there "
                    "is one"),
        OPTION_RULES(struct web, from.judging),
        OPTIONS_OF_TREND(struct web, from.judging),
        OPTION_FLAG("allow-control", 0, struct web, options.allow_control,
                    "let /api/control add and remove targets, silence alerts, take censuses and profiles, and read "
                    "heaps and "
                    "threads, each token by its role; by default the page is read-only. Each such request is a line on "
                    "standard error, with "
                    "the token's name"),
        OPTIONS_END,
};

/* The given token, a new one, or none. 0, or EXIT_USAGE after a report. */
static int check_token(struct web *w)
{
        struct guard *g = &w->options.guard;
        struct error error;

        if (w->no_token && w->token_file)
                return command_usage_error(&command_web, "--no-token and --token-file exclude each other");
        if (w->no_token && w->options.allow_control)
                return command_usage_error(&command_web, "--allow-control needs the token: leave --no-token out");
        if (!w->token_file && !listen_address_is_local(&w->options.place))
                return command_usage_error(&command_web,
                                           "--listen %s: others could reach it; give --token-file, or "
                                           "listen on 127.0.0.1 and use ssh -L",
                                           w->listen);
        if (w->token_file && !guard_read_token(g, w->token_file, &error))
                return command_error(&command_web, "%s", error.text);
        w->token_made = !w->token_file && !w->no_token;
        if (w->token_made && !guard_make_token(g))
                return command_error(&command_web, "no random numbers for a token: %s", strerror(errno));
        return 0;
}

/* Rejects options that contradict each other or are unsafe. */
static int check_request(void *filled)
{
        struct web *w = filled;

        if (selection_check(&command_web, &w->from))
                return EXIT_USAGE;
        if (w->from.files.n && w->options.allow_control)
                return command_usage_error(&command_web, "--allow-control is for daemons, not for files");
        if (w->from.files.n && w->db)
                return command_usage_error(&command_web, "--db is for daemons, not for files");
        if (w->listen && w->port)
                return command_usage_error(&command_web, "--listen and --port exclude each other");
        if (w->port)
                (void)snprintf(w->address, sizeof(w->address), "127.0.0.1:%s", w->port);
        if (!w->listen)
                w->listen = w->port ? w->address : "127.0.0.1:8077";
        if (!listen_address_parse(&w->options.place, w->listen))
                return command_usage_error(
                        &command_web,
                        "--listen '%s': expected ADDRESS:PORT, e.g. 127.0.0.1:8077 or [::1]:8077, or "
                        "unix:PATH with an absolute path",
                        w->listen);
        w->options.guard.hosts = w->hosts.items;
        w->options.guard.n_hosts = w->hosts.n;
        return check_token(w);
}

/* ---------------------------------------------------------------------- feed */

static void stop_web(struct web *w, int status)
{
        w->status = status;
        (void)event_base_loopbreak(w->base);
}

/* Once there is something to show: for a file that is not a log no address is printed. */
static void announce_address(struct web *w)
{
        if (w->announced)
                return;
        w->announced = true;
        (void)printf("heapwatch web: %s", server_url(w->server));
        if (w->token_made)
                (void)printf("%s?token=%s", listen_address_is_unix(&w->options.place) ? " /" : "",
                             w->options.guard.tokens[0].text);
        (void)printf("\n");
        if (fflush(stdout) == 0)
                return;
        command_error(&command_web, "cannot write its address to standard output: %s", strerror(errno));
        stop_web(w, EXIT_USAGE);
}

/* Files are read one after the other, so targets come in their order. */
static bool name_log(struct web *w, const char *target)
{
        if (!target || w->logs.n == w->from.files.n || text_list_has(&w->logs, target))
                return true;
        w->logs.items[w->logs.n] = strdup(target);
        return w->logs.items[w->logs.n++] != NULL;
}

static void apply_update(struct web *w, size_t daemon, const Hw__Update *u)
{
        if (!name_log(w, u->target) || world_apply(w->world, daemon, u) < 0) {
                command_error(&command_web, "out of memory");
                stop_web(w, EXIT_USAGE);
                return;
        }
        streams_update(w->streams, daemon, u);
        if (!w->announced && world_has_run(w->world))
                announce_address(w);
}

/* All files were read. Those that could not be do not prevent looking at the others. */
static void end_files(struct web *w)
{
        announce_address(w);
        feed_loop_finish(&w->loop);
        streams_end(w->streams, "all files are read");
}

/* One event of the feed. False when there is none now. */
static bool receive_event(void *ctx)
{
        struct web *w = ctx;
        const Hw__Update *update = NULL;
        enum feed_event event = feed_next(w->feed, 0, &update);
        size_t daemon = event == FEED_NOTHING || event == FEED_FAILED ? 0 : feed_daemon(w->feed);

        switch (event) {
        case FEED_UPDATE:
                apply_update(w, daemon, update);
                return true;
        case FEED_RESET:
                world_reset(w->world, daemon);
                streams_forget(w->streams, daemon);
                return true;
        case FEED_STALE:
        case FEED_ALIVE:
        case FEED_READY: /* its snapshot is complete: a restarted daemon is back */
                world_set_stale(w->world, daemon, event == FEED_STALE);
                streams_daemon(w->streams, daemon);
                return true;
        case FEED_END:
                end_files(w);
                return false;
        case FEED_FAILED:
                command_error(&command_web, "%s", feed_error(w->feed));
                if (w->from.files.n && world_has_run(w->world))
                        end_files(w);
                else
                        stop_web(w, EXIT_USAGE);
                return false;
        default:
                return false;
        }
}

static void on_signal(void *w)
{
        stop_web(w, EXIT_OK);
}

/* ----------------------------------------------------------------- its parts */

static bool open_feed(struct web *w)
{
        struct error error;

        w->feed = selection_open(&w->from, NULL, 0, &error);
        if (!w->feed)
                command_error(&command_web, "%s", error.text);
        return w->feed != NULL;
}

static void on_replies(evutil_socket_t fd, short what, void *arg)
{
        struct web *w = arg;

        (void)hw_requester_pump(w->requester);
}

/* For requests to daemons; files need none. */
static bool open_requester(struct web *w)
{
        if (!feed_is_live(w->feed))
                return true;
        w->requester = feed_requester(w->feed);
        if (w->requester)
                w->replies = event_new(w->base, hw_requester_fd(w->requester), EV_READ | EV_PERSIST, on_replies, w);
        if (w->replies && event_add(w->replies, NULL) == 0)
                return true;
        command_error(&command_web, "cannot send requests to the daemon: %s", strerror(errno));
        return false;
}

static bool open_memory(struct web *w)
{
        bool files = w->from.files.n > 0; /* series of a live target come from its daemon */
        struct history_options past = {
                .points = files ? HISTORY_FILE_POINTS : HISTORY_POINTS,
                .columns = HISTORY_COLUMNS,
                .cells = files ? HISTORY_FILE_CELLS : HISTORY_CELLS,
                .collections = files,
                .keep_recent = !files,
                .brief = !files,
                .keeps_notes = true,
        };

        w->world = world_new(&past);
        w->state = (struct state_source){
                .world = w->world,
                .feed = w->feed,
                .n_daemons = w->requester ? feed_daemons(w->feed) : 1,
                .live = w->from.files.n == 0,
                .files = w->from.files.n ? w->from.files.items : NULL,
                .control = w->options.allow_control,
        };
        w->connections = connections_new(w->base);
        w->streams = w->connections ? streams_new(w->base, &w->state, w->connections) : NULL;
        w->api_history = api_history_new(w->world, w->requester);
        w->inspections = inspections_new(w->world, w->feed);
        return w->world && w->streams && w->api_history && w->inspections;
}

/* The one that was named must be there; the user's own may come later. */
static bool open_archive(struct web *w)
{
        struct database d = { .lock = -1 };
        struct error error;
        bool good = !w->db || database_open_to_read(&d, w->db, &error);

        database_close(&d);
        if (w->from.files.n || (!w->db && !database_default_path(w->archive_path, sizeof(w->archive_path))))
                w->archive_path[0] = '\0';
        else if (w->db)
                (void)snprintf(w->archive_path, sizeof(w->archive_path), "%s", w->db);
        good = good && (w->archive_worker = worker_new(w->base, &error)) &&
               (w->diff_worker = worker_new(w->base, &error)) && (w->query_worker = worker_new(w->base, &error)) &&
               (w->program_worker = worker_new(w->base, &error));
        if (!good)
                command_error(&command_web, "%s", error.text);
        return good;
}

static bool open_server(struct web *w)
{
        struct server_parts parts = {
                .world = w->world,
                .state = &w->state,
                .streams = w->streams,
                .api_history = w->api_history,
                .archive = { *w->archive_path ? w->archive_path : NULL, w->feed, w->archive_worker },
                .subjects = { w->world, w->feed, &w->from.files, &w->logs, *w->archive_path ? w->archive_path : NULL },
                .diff_worker = w->diff_worker,
                .query_worker = w->query_worker,
                .connections = w->connections,
                .control = { w->requester, feed_daemons(w->feed), w->world, w->feed, w->program_worker,
                             w->inspections },
        };
        struct error error;

        w->server = server_new(w->base, &w->options, &parts, &error);
        if (!w->server) {
                command_error(&command_web, "%s", error.text);
                return false;
        }
        if (!page_size())
                command_error(&command_web, "%s; the API works", PAGE_MISSING);
        if (w->from.files.n == 0)
                announce_address(w);
        return true;
}

/* In reverse order; open requests are answered before the server is destroyed. */
static void close_all(struct web *w)
{
        free_event(&w->replies);
        hw_requester_destroy(&w->requester);
        if (w->streams)
                streams_destroy(&w->streams);
        worker_destroy(&w->archive_worker);
        worker_destroy(&w->diff_worker);
        worker_destroy(&w->query_worker);
        worker_destroy(&w->program_worker);
        server_destroy(&w->server);
        inspections_destroy(&w->inspections);
        connections_destroy(&w->connections);
        api_history_destroy(&w->api_history);
        feed_loop_close(&w->loop);
        world_destroy(&w->world);
        for (size_t i = 0; i < w->logs.n; i++)
                free((char *)(uintptr_t)w->logs.items[i]);
        if (w->feed)
                feed_close(&w->feed);
        if (w->base)
                event_base_free(w->base);
}

static int run_web(void *filled)
{
        struct web *w = filled;

        w->status = EXIT_USAGE;
        w->loop = (struct feed_loop){ .receive = receive_event, .signalled = on_signal, .ctx = w };
        w->base = event_base_new();
        if (w->base && open_feed(w) && open_requester(w) && open_memory(w) && open_archive(w) && open_server(w) &&
            feed_loop_open(&w->loop, w->base, w->feed))
                (void)event_base_dispatch(w->base);
        int status = w->status;
        close_all(w);
        signals_die();
        return status;
}

const struct command command_web = {
        .name = "web",
        .summary = "a page for the browser, live or from files",
        .usage = TEXTS("[FILE...] [OPTION]..."),
        .about =
                "Serves a page for the browser: all targets, heap, bands, collections, time, alerts, live from the "
                "daemon or of finished eventlogs (FILE). Nothing else is needed and nothing is fetched from elsewhere.",
        .options = options,
        .notes = "The API for scripts: /api/state, /api/stream, /api/history, /api/archive, /api/diff, /api/targets "
                 "(docs/WEB.md); for "
                 "Prometheus: /metrics. Whoever asks needs the token: a browser keeps the one of the printed address "
                 "as a cookie, scripts send 'Authorization: Bearer TOKEN'. It answers to the address that it listens "
                 "on, to localhost and the names given by --host. A browser that falls behind is skipped to the "
                 "newest state; the daemon never waits for one. Runs until it is interrupted.",
        .status = "0 interrupted, 2 bad input, or the port is taken.",
        .examples = TEXTS("heapwatch web", "heapwatch web run.eventlog --listen 127.0.0.1:9000",
                          "heapwatch web --token-file ~/.heapwatch-token    for Prometheus and other scripts",
                          "ssh -L 8077:127.0.0.1:8077 server    the page of another machine, safely"),
        .size = sizeof(struct web),
        .check = check_request,
        .run = run_web,
};
