/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify.c - `heapwatch notify`: does what rules say when alerts fire. A daemon starts it.
 *
 *      standard input ──alerts and their actions──▶ dispatcher (what, when) ─▶ executor (how)
 *      standard output ◀─────── results ──────────────────┘
 *
 * DESIGN: one thread, one libevent loop, in which libcurl's sockets and the pipes of programs are, too. The lines are
 * those of daemon/watch/control/notifier.h. It ends with its standard input, whose other side the kernel closes
 * however the daemon dies. A daemon that is silent for DAEMON_SILENT_NS is stopped, or its machine is out of breath:
 * what it said last may not be true, so nothing is decided and no Alertmanager is told again; running actions
 * continue.
 */
#include "client/cli/command.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/cli/report.h"
#include "client/cli/signals.h"
#include "client/out/notify/dispatcher.h"
#include "client/out/notify/executor.h"
#include "client/out/notify/record.h"
#include "heapwatch/wire.h"
#include "proto/base/clock.h"
#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/json_out.h"
#include "proto/cli/options.h"
#include "proto/wire/endpoints.h"

#define FLUSH_MS         20           /* how long results are collected */
#define RECORD_MS        200          /* the same for the record; what is newer may be done twice after SIGKILL */
#define QUEUE_BYTES      (256u << 10) /* of results that the daemon does not take; further ones wait */
#define DAEMON_SILENT_NS UINT64_C(5000000000)

struct notify {
        const char *endpoint;
        enum log_level level;
        struct event_base *base;
        struct event *signals[3], *flush, *keep, *second;
        struct bufferevent *in, *out;
        char record_path[STATE_PATH_MAX]; /* "": the record is kept nowhere */
        struct record *record;
        struct dispatcher *dispatcher;
        struct executor *executor;
        uint64_t heard_ns; /* when the daemon said something last */
        bool silent;
        uint64_t done, failed, dropped; /* actions */
        uint64_t kept_changes;          /* changes of the record that the file has */
        bool not_kept;                  /* the file could not be written */
};

static const struct option options[] = {
        OPTION_CONNECT_ONE(struct notify, endpoint, "the daemon's publish endpoint"),
        OPTION_CHOICE("log-level", 0, "LEVEL", enum log_level, struct notify, level, log_level_names,
                      "error, warning, info (default) or debug"),
        OPTIONS_END,
};

static void arm_timer(struct event *timer, long ms)
{
        struct timeval after = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

        if (!evtimer_pending(timer, NULL))
                (void)evtimer_add(timer, &after); /* if out of memory, the next second retries */
}

/* --------------------------------------------------------------------- record */

static void write_record(struct notify *n)
{
        if (!n->record_path[0] || n->kept_changes == n->record->changes)
                return;
        uint64_t changes = n->record->changes;
        int err = record_write(n->record, n->record_path);
        if (err == 0)
                n->kept_changes = changes;
        if (err < 0 && !n->not_kept)
                report_warning("what was done is not kept over a restart: %s: %s", n->record_path, strerror(-err));
        n->not_kept = err < 0;
}

static void on_keep(evutil_socket_t fd, short what, void *ctx)
{
        write_record(ctx);
}

/* -------------------------------------------------------------------- results */

static bool finish_line(struct notify *n, struct document *line, struct json_out *j)
{
        json_close(j, '}');
        (void)putc_unlocked('\n', line->to);
        bool good = document_close(line) && bufferevent_write(n->out, line->text, line->size) == 0;
        document_done(line);
        return good;
}

static bool begin_line(struct document *line, struct json_out *j)
{
        document_open(line);
        *j = (struct json_out){ .to = line->to };
        if (line->to)
                json_open(j, '{');
        return line->to != NULL;
}

static bool send_results(void *ctx, const struct alert_event *event, bool fresh, const struct action_report *results,
                         size_t n)
{
        struct notify *me = ctx;
        struct document line;
        struct json_out j;

        if (evbuffer_get_length(bufferevent_get_output(me->out)) > QUEUE_BYTES || !begin_line(&line, &j))
                return false;
        json_member_text(&j, "target", alert_event_text(event, "target"));
        json_member_text(&j, "alert", alert_event_text(event, "fingerprint"));
        json_known_u64(&j, "firedNs", event->fired_wall_ns <= INT64_MAX, event->fired_wall_ns);
        json_member_bool(&j, "fresh", fresh);
        json_member_open(&j, "results", '[');
        for (size_t i = 0; i < n; i++) {
                const struct action_report *r = &results[i];
                json_open(&j, '{');
                json_member_u64(&j, "step", r->step);
                json_member_text(&j, "kind", action_kind_name(r->kind));
                if (r->outcome != OUTCOME_UNDER_WAY) {
                        json_member_bool(&j, "ok", r->outcome == OUTCOME_DONE);
                        json_member_u64(&j, "wallNs", r->wall_ns);
                }
                json_member_text(&j, "detail", r->detail);
                json_member_u64(&j, "attempts", r->attempts);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        return finish_line(me, &line, &j);
}

/* What has changed; and how much was done, as a sign of life. */
static void on_flush(evutil_socket_t fd, short what, void *ctx)
{
        struct notify *n = ctx;
        struct document line;
        struct json_out j;

        dispatcher_collect_changed(n->dispatcher, send_results, n);
        if (evbuffer_get_length(bufferevent_get_output(n->out)) > QUEUE_BYTES || !begin_line(&line, &j))
                return;
        json_member_u64(&j, "done", n->done);
        json_member_u64(&j, "failed", n->failed);
        json_member_u64(&j, "dropped", n->dropped + dispatcher_dropped(n->dispatcher));
        (void)finish_line(n, &line, &j);
}

static void on_act(void *ctx, const struct alert_event *event, struct action_plan *plan, bool known)
{
        executor_add(((struct notify *)ctx)->executor, event, plan, known);
}

static void on_report(void *ctx, const struct action_report *r)
{
        struct notify *n = ctx;

        n->done += r->outcome == OUTCOME_DONE;
        n->failed += r->outcome == OUTCOME_FAILED;
        n->dropped += r->outcome == OUTCOME_SKIPPED;
        dispatcher_report(n->dispatcher, r);
        arm_timer(n->flush, FLUSH_MS);
}

static void on_over(void *ctx, const struct alert_event *event)
{
        struct notify *n = ctx;

        record_over(n->record, event);
        arm_timer(n->keep, RECORD_MS);
}

/* ---------------------------------------------------------------------- lines */

static void apply_line(struct notify *n, const char *text, size_t size)
{
        json_t *line = json_loadb(text, size, 0, NULL);
        struct error error = { "it is not JSON" };
        struct news news = { .event = NULL };

        if (line && json_object_size(line) == 0) {
                json_decref(line); /* a sign of life */
                return;
        }
        if (line && news_read(&news, line, &error))
                dispatcher_apply(n->dispatcher, &news, clock_wall_ns());
        else
                report_warning("a line of the daemon cannot be used: %s", error.text);
        news_done(&news);
        json_decref(line);
        arm_timer(n->flush, FLUSH_MS);
}

static void set_silent(struct notify *n, bool silent)
{
        if (silent && !n->silent)
                report_warning("the daemon is silent; nothing new is done until it is back");
        n->silent = silent;
        executor_hold(n->executor, silent);
}

static void on_lines(struct bufferevent *in, void *ctx)
{
        struct notify *n = ctx;
        size_t size;
        char *line;

        n->heard_ns = clock_mono_ns();
        set_silent(n, false);
        while ((line = evbuffer_readln(bufferevent_get_input(in), &size, EVBUFFER_EOL_LF))) {
                apply_line(n, line, size);
                free(line);
        }
}

static void on_second(evutil_socket_t fd, short what, void *ctx)
{
        struct notify *n = ctx;

        set_silent(n, clock_mono_ns() - n->heard_ns > DAEMON_SILENT_NS);
        if (!n->silent)
                dispatcher_tick(n->dispatcher, clock_wall_ns());
        on_flush(fd, what, n);
        write_record(n);
}

/* ----------------------------------------------------------------------- life */

static void on_end(struct bufferevent *pipe, short what, void *ctx)
{
        (void)event_base_loopbreak(((struct notify *)ctx)->base);
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
        signals_mark((int)number);
        (void)event_base_loopbreak(((struct notify *)ctx)->base);
}

static struct bufferevent *open_pipe(struct notify *n, int fd, short what)
{
        struct bufferevent *pipe = NULL;

        if (evutil_make_socket_nonblocking(fd) == 0 && (pipe = bufferevent_socket_new(n->base, fd, 0))) {
                bufferevent_setcb(pipe, on_lines, NULL, on_end, n);
                (void)bufferevent_disable(pipe, EV_READ | EV_WRITE);
                (void)bufferevent_enable(pipe, what);
        }
        return pipe;
}

static bool open_all(struct notify *n)
{
        static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
        const struct dispatcher_handler handler = { .ctx = n, .act = on_act };
        const struct executor_options executor = {
                .base = n->base, .report = on_report, .over = on_over, .ctx = n, .endpoint = n->endpoint
        };
        const struct timeval second = { .tv_sec = 1 };

        for (size_t i = 0; i < 3; i++) {
                n->signals[i] = evsignal_new(n->base, numbers[i], on_signal, n);
                if (!n->signals[i] || event_add(n->signals[i], NULL) != 0)
                        return false;
        }
        n->flush = evtimer_new(n->base, on_flush, n);
        n->keep = evtimer_new(n->base, on_keep, n);
        n->second = event_new(n->base, -1, EV_PERSIST, on_second, n);
        n->dispatcher = dispatcher_new(&handler, n->record);
        n->executor = executor_new(&executor);
        if (!n->flush || !n->keep || !n->second || !n->dispatcher || !n->executor || event_add(n->second, &second) != 0)
                return false;
        n->in = open_pipe(n, STDIN_FILENO, EV_READ);
        n->out = open_pipe(n, STDOUT_FILENO, EV_WRITE);
        return n->in && n->out;
}

static void close_all(struct notify *n)
{
        executor_destroy(&n->executor);
        write_record(n);
        if (n->in)
                bufferevent_free(n->in);
        if (n->out)
                bufferevent_free(n->out);
        for (size_t i = 0; i < 3; i++)
                free_event(&n->signals[i]);
        free_event(&n->flush);
        free_event(&n->keep);
        free_event(&n->second);
        dispatcher_destroy(&n->dispatcher);
}

static int run_notify(void *filled)
{
        struct notify *n = filled;
        char publish[256], request[256];
        struct stat input;
        int status = EXIT_OK;

        report_set_level(n->level);
        if (fstat(STDIN_FILENO, &input) != 0 || (!S_ISSOCK(input.st_mode) && !S_ISFIFO(input.st_mode)))
                return command_usage_error(&command_notify, "heapwatchd starts this program, and writes to its input");
        if (!n->endpoint && hw_default_endpoints(publish, request, sizeof(publish)) == 0)
                n->endpoint = publish;
        if (!n->endpoint)
                return command_usage_error(&command_notify, "the default socket's path is too long; give --connect");
        n->base = event_base_new();
        n->record = calloc(1, sizeof(*n->record));
        if (state_path(n->record_path, sizeof(n->record_path), "notify", n->endpoint) == 0) {
                if (n->record)
                        record_read(n->record, n->record_path);
        } else {
                n->record_path[0] = '\0';
                report_warning("there is no directory for what must survive a restart; set XDG_STATE_HOME");
        }
        n->heard_ns = clock_mono_ns();
        if (n->base && n->record && open_all(n))
                (void)event_base_dispatch(n->base);
        else
                status = command_error(&command_notify, "out of memory");
        if (n->record)
                close_all(n);
        free(n->record);
        if (n->base)
                event_base_free(n->base);
        return status;
}

const struct command command_notify = {
        .name = "notify",
        .summary = "act on alerts: run programs, post webhooks, feed Alertmanager; heapwatchd starts it",
        .usage = TEXTS("[OPTION]..."),
        .about = "Acts on the alerts of the daemon that starts it, as its rules say with `do:`. It reads alerts with "
                 "their actions from standard input, one line of JSON each, and writes the results, which alerts show, "
                 "to standard output. `heapwatchd --notify=off` starts none.",
        .options = options,
        .notes = "It ends with its standard input, and on SIGINT, SIGTERM and SIGHUP, and kills the programs that it "
                 "has started. What was done is kept in heapwatch/notify.json below $XDG_STATE_HOME, by default "
                 "/var/lib for root or ~/.local/state.",
        .status = "0 stopped by a signal or the daemon, 2 bad usage.",
        .examples = TEXTS("heapwatchd --rules leaks.yaml api=/var/log/api.eventlog"),
        .size = sizeof(struct notify),
        .defaults = &(const struct notify){ .level = LOG_INFO },
        .run = run_notify,
};
