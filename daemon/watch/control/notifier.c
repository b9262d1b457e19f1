/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one socket pair is the child's standard input and output. What it was told of an alert is kept with the alert
 * (struct alert_deeds): a hash of all that matters, in which the number of the child takes part, so that a change, a
 * new child and a full queue are the same thing, namely that the hash differs when the alert is published again, a
 * second later at most.
 *
 * A child counts its actions from its own start: the sums of earlier ones are kept, so that the daemon's counters never
 * decrease. One that lived for GOOD_LIFE_NS resets the backoff.
 */
#include "daemon/watch/control/notifier.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "daemon/judge/rules/rule.h"
#include "daemon/publish/encode.h"
#include "daemon/source/backoff.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/watch/targets/targets.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"
#include "proto/base/hash.h"
#include "proto/base/child.h"
#include "proto/wire/action_plan.h"

#define GOOD_LIFE_NS (UINT64_C(30) * 1000000000)
#define LINE_BYTES   65536u /* of one line of the child; a longer one is not from it */

struct counters {
        uint64_t done, failed, dropped;
};

struct notifier {
        struct notifier_options options;
        const struct targets *targets;
        struct event *child_event, *again, *second;
        struct backoff backoff;
        struct bufferevent *pipe; /* NULL: none is running */
        pid_t pid;                /* 0: likewise */
        uint32_t listener;        /* numbers the children from 1 */
        uint32_t restarts;
        bool wanted, has_work;
        bool heard; /* the one that runs has said something */
        uint64_t started_ns, heard_ns, heard_wall_ns;
        uint64_t open;             /* alerts that it was told fire */
        uint64_t refused, waiting; /* not told for lack of room: in this second, in the one before */
        struct counters before, now;
        uint64_t lost;    /* actions that nobody was told of */
        char ended[128];  /* why the one before ended, or could not be started */
        char detail[256]; /* of the message */
        Hw__Notifier message;
};

/* ---------------------------------------------------------------------- child */

static void on_lines(struct bufferevent *pipe, void *ctx);

/* It has ended, or never began: what it counted is added up, and the next one is told everything. */
static void try_later(struct notifier *n)
{
        struct timeval pause = backoff_next(&n->backoff);

        if (n->pipe)
                bufferevent_free(n->pipe);
        n->pipe = NULL;
        n->pid = 0;
        n->heard = false;
        n->open = 0;
        n->before.done += n->now.done;
        n->before.failed += n->now.failed;
        n->before.dropped += n->now.dropped;
        n->now = (struct counters){ 0 };
        if (event_add(n->again, &pause) != 0)
                log_error("notifier: out of memory; it will not be restarted");
}

static void on_broken_pipe(struct bufferevent *pipe, short what, void *ctx)
{
        struct notifier *n = ctx;

        (void)bufferevent_disable(pipe, EV_READ | EV_WRITE);
        if (n->pid)
                (void)kill(n->pid, SIGKILL); /* it has closed its pipe, usually by ending: SIGCHLD follows */
}

/* Returns 0 or an errno. */
static int start_child(struct notifier *n)
{
        char *argv[] = { "heapwatch",   "notify",
                         "--connect",   (char *)n->options.publish_endpoint,
                         "--log-level", (char *)n->options.log_level,
                         NULL };
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return errno;
        (void)evutil_make_socket_nonblocking(ends[0]);
        n->pipe = bufferevent_socket_new(n->options.base, ends[0], BEV_OPT_CLOSE_ON_FREE);
        int err = n->pipe ? child_spawn(argv, (const int[]){ ends[1], ends[1], STDERR_FILENO }, CHILD_APART, &n->pid)
                          : ENOMEM;
        (void)close(ends[1]);
        if (!n->pipe)
                (void)close(ends[0]);
        if (err)
                return err;
        bufferevent_setcb(n->pipe, on_lines, NULL, on_broken_pipe, n);
        bufferevent_setwatermark(n->pipe, EV_READ, 0, LINE_BYTES);
        (void)bufferevent_enable(n->pipe, EV_READ | EV_WRITE);
        n->listener++;
        n->started_ns = n->heard_ns = clock_mono_ns();
        return 0;
}

static void try_to_start(struct notifier *n)
{
        int err = start_child(n);

        if (!err) {
                log_info("notifier: heapwatch notify started, pid=%d", (int)n->pid);
                return;
        }
        bool said = n->backoff.attempts > 0;
        snprintf(n->ended, sizeof(n->ended), "heapwatch notify cannot be started: %s", strerror(err));
        if (!said)
                log_error("notifier: %s; until it starts, alerts are published but not acted on", n->ended);
        try_later(n);
}

static void on_again(evutil_socket_t fd, short what, void *ctx)
{
        struct notifier *n = ctx;

        n->restarts++;
        try_to_start(n);
}

/* From now on one is kept running. */
static void want_child(struct notifier *n)
{
        if (n->wanted || !n->options.start)
                return;
        const struct timeval second = { .tv_sec = 1 };
        n->wanted = true;
        if (event_add(n->second, &second) != 0)
                log_error("notifier: out of memory; it will not learn that the daemon lives");
        try_to_start(n);
}

static void on_child(evutil_socket_t signal_number, short what, void *ctx)
{
        struct notifier *n = ctx;
        int status;

        if (!n->pid || waitpid(n->pid, &status, WNOHANG) != n->pid)
                return;
        struct evbuffer *rest = bufferevent_get_input(n->pipe);
        (void)evbuffer_unfreeze(rest, 0);
        while (evbuffer_read(rest, bufferevent_getfd(n->pipe), -1) > 0)
                on_lines(n->pipe, n); /* its last words */
        if (WIFSIGNALED(status))
                snprintf(n->ended, sizeof(n->ended), "it was ended by signal %d", WTERMSIG(status));
        else
                snprintf(n->ended, sizeof(n->ended), "it ended with exit status %d", WEXITSTATUS(status));
        log_warning("notifier: pid=%d: %s; restarting it", (int)n->pid, n->ended);
        if (clock_mono_ns() - n->started_ns > GOOD_LIFE_NS)
                backoff_reset(&n->backoff);
        try_later(n);
}

/* The sign of life, when nothing else is on its way; and how much had no room. */
static void on_second(evutil_socket_t fd, short what, void *ctx)
{
        struct notifier *n = ctx;

        if (n->pipe && evbuffer_get_length(bufferevent_get_output(n->pipe)) == 0)
                (void)bufferevent_write(n->pipe, "{}\n", 3);
        if (n->refused && !n->waiting)
                log_warning("notifier: pid=%d takes no more: %" PRIu64 " alerts wait to be told", (int)n->pid,
                            n->refused);
        n->waiting = n->refused;
        n->refused = 0;
}

/* --------------------------------------------------------------------- alerts */

static bool has_work(const struct rule *rule)
{
        return rule->plan && action_plan_has_work(rule->plan);
}

/* The child that runs was told that it fires. */
static bool is_open(const struct notifier *n, const struct alert *a)
{
        return n->pipe && a->deeds && a->deeds->listener == n->listener;
}

static uint64_t hash_of(const struct notifier *n, const struct alert *a, const struct silence *silence)
{
        const uint64_t parts[] = { n->listener,
                                   a->state.now,
                                   a->fired.wall_ns,
                                   a->rule->plan ? action_plan_serial(a->rule->plan) : 0,
                                   silence ? silence->until_wall_ns : 0,
                                   silence ? hash_text(silence->why, 1) : 0 };
        uint64_t hash = 0;

        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
                hash = hash_u64(parts[i], hash);
        return hash | 1;
}

static bool pass_alert(struct notifier *n, const char *target, const struct alert *a, const struct silence *silence,
                       uint64_t gone_wall_ns)
{
        const size_t most = gone_wall_ns ? 4 * NOTIFIER_QUEUE_BYTES : NOTIFIER_QUEUE_BYTES;
        size_t size;

        if (evbuffer_get_length(bufferevent_get_output(n->pipe)) >= most)
                return false;
        char *line = alert_line(target, a, silence, gone_wall_ns, &size);
        bool passed = line && bufferevent_write(n->pipe, line, size) == 0;
        free(line);
        return passed;
}

/* When an alert is published. */
static void on_published(void *ctx, const char *target, struct alert *alert, struct alert_extra *ret)
{
        struct notifier *n = ctx;
        const struct silence *silence = silence_store_find(n->options.silences, alert->rule->name, target);

        if (silence) {
                ret->silenced = true;
                ret->silenced_until_wall_ns = silence->until_wall_ns;
                ret->silenced_why = silence->why[0] ? silence->why : NULL;
        }
        const bool fires = alert->state.now == ALERT_FIRING;
        if ((!fires && alert->state.now != ALERT_RESOLVED) || (!has_work(alert->rule) && !is_open(n, alert)))
                return;
        if (fires)
                want_child(n);
        struct alert_deeds *deeds = n->pipe ? alert_deeds(alert) : NULL;
        const uint64_t hash = hash_of(n, alert, silence);
        if (!deeds || deeds->told == hash)
                return;
        const bool opens = fires && !is_open(n, alert);
        if ((opens && n->open >= NOTIFIER_OPEN_MAX) || !pass_alert(n, target, alert, silence, 0)) {
                n->refused++;
                return;
        }
        n->open += opens;
        n->open -= !fires && is_open(n, alert);
        deeds->told = hash;
        deeds->listener = fires ? n->listener : 0;
        deeds->over_told = !fires;
}

/* Its target or its rule goes; or it is long over. */
static void on_removed(void *ctx, const char *target, struct alert *a)
{
        struct notifier *n = ctx;
        const bool fired = a->state.now == ALERT_FIRING || a->state.now == ALERT_RESOLVED;

        if (!n->wanted || !fired || (a->deeds && a->deeds->over_told) || (!has_work(a->rule) && !is_open(n, a)))
                return;
        if (n->pipe && pass_alert(n, target, a, NULL, clock_wall_ns())) {
                n->open -= is_open(n, a);
                return;
        }
        n->lost += a->rule->plan ? action_plan_steps(a->rule->plan) : 1;
        if (n->pipe)
                (void)kill(n->pid, SIGKILL); /* what it knows is not true any more; the next one is told what is */
}

struct alert_hooks notifier_hooks(struct notifier *n)
{
        return (struct alert_hooks){ .ctx = n, .removed = on_removed, .extra = on_published };
}

/* -------------------------------------------------------------------- results */

static uint64_t read_number(const json_t *o, const char *name, uint64_t unknown)
{
        const json_t *number = json_object_get(o, name);

        return json_is_integer(number) && json_integer_value(number) >= 0 ? (uint64_t)json_integer_value(number)
                                                                          : unknown;
}

static void apply_results(struct notifier *n, const json_t *line)
{
        const char *target = json_string_value(json_object_get(line, "target"));
        const char *digits = json_string_value(json_object_get(line, "alert"));
        const json_t *results = json_object_get(line, "results");
        struct pipeline *p = target && digits && n->targets ? targets_find(n->targets, target) : NULL;
        const struct alerts *alerts = p ? pipeline_alerts(p) : NULL;
        struct alert *alert =
                alerts ? alerts_find(alerts, strtoull(digits, NULL, 16), read_number(line, "firedNs", UNKNOWN_U64))
                       : NULL;

        if (alert && json_is_true(json_object_get(line, "fresh")))
                alert_forget_results(alert);
        for (size_t i = 0; alert && i < json_array_size(results); i++) {
                const json_t *r = json_array_get(results, i);
                const enum action_kind kind = action_kind_parse(json_string_length(json_object_get(r, "kind"))
                                                                        ? json_string_value(json_object_get(r, "kind"))
                                                                        : "");
                const struct alert_result result = {
                        .kind = kind < ACTION_KINDS ? (char *)action_kind_name(kind) : "",
                        .detail = (char *)json_string_value(json_object_get(r, "detail")),
                        .under_way = !json_object_get(r, "ok"),
                        .ok = json_is_true(json_object_get(r, "ok")),
                        .wall_ns = read_number(r, "wallNs", UNKNOWN_U64),
                        .attempts = (uint32_t)read_number(r, "attempts", 0),
                        .step = (uint32_t)read_number(r, "step", ALERT_RESULTS_MAX),
                };
                (void)alert_set_result(alert, &result);
                if (kind == ACTION_WHY)
                        pipeline_answered(p, alert, &result);
        }
}

static void read_line(struct notifier *n, const char *text, size_t size)
{
        json_t *line = json_loadb(text, size, 0, NULL);

        if (!line) {
                log_warning("notifier: pid=%d wrote a line that is not JSON", (int)n->pid);
                return;
        }
        n->heard = true;
        n->heard_ns = clock_mono_ns();
        n->heard_wall_ns = clock_wall_ns();
        n->now.done = read_number(line, "done", n->now.done);
        n->now.failed = read_number(line, "failed", n->now.failed);
        n->now.dropped = read_number(line, "dropped", n->now.dropped);
        apply_results(n, line);
        json_decref(line);
}

static void on_lines(struct bufferevent *pipe, void *ctx)
{
        struct evbuffer *input = bufferevent_get_input(pipe);
        size_t size;
        char *line;

        while ((line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF))) {
                read_line(ctx, line, size);
                free(line);
        }
        if (evbuffer_get_length(input) >= LINE_BYTES)
                on_broken_pipe(pipe, BEV_EVENT_ERROR, ctx);
}

/* ---------------------------------------------------------------------- state */

/* Not of the built-in ones: most programs never grow, and need no process beside the daemon. */
static bool rules_have_work(const struct ruleset *rules)
{
        for (size_t i = 0; i < rules->n; i++)
                if (!rules->rules[i]->builtin && has_work(rules->rules[i]))
                        return true;
        return false;
}

/* The child stays when no rule has actions any more: alerts that it acted on may not have ended yet. */
void notifier_rules(struct notifier *n, const struct targets *targets, const struct ruleset *rules)
{
        n->targets = targets;
        n->has_work = rules_have_work(rules);
        if (n->has_work)
                want_child(n);
}

void notifier_fill_state(void *ctx, Hw__DaemonState *state)
{
        struct notifier *n = ctx;
        Hw__Notifier *m = &n->message;

        hw__notifier__init(m);
        PUT(m, state,
            !n->options.start && n->has_work  ? HW__NOTIFIER__STATE__STATE_OFF
            : !n->options.start || !n->wanted ? HW__NOTIFIER__STATE__STATE_IDLE
            : !n->pid                         ? HW__NOTIFIER__STATE__STATE_RESTARTING
            : n->heard                        ? HW__NOTIFIER__STATE__STATE_RUNNING
                                              : HW__NOTIFIER__STATE__STATE_STARTING);
        if (n->pid)
                PUT(m, pid, (uint32_t)n->pid);
        PUT(m, restarts, n->restarts);
        if (n->heard_wall_ns)
                PUT(m, heard_wall_ns, n->heard_wall_ns);
        const uint64_t silent_ns = clock_mono_ns() - n->heard_ns;
        char *detail = n->detail;
        const size_t size = sizeof(n->detail);
        detail[0] = '\0';
        if (n->wanted && !n->pid)
                snprintf(detail, size, "%s", n->ended);
        else if (n->pid && silent_ns >= NOTIFIER_SILENT_NS)
                snprintf(detail, size, "it has not reported for %" PRIu64 " s; %" PRIu64 " alerts wait to be told",
                         silent_ns / 1000000000, n->waiting);
        else if (n->waiting)
                snprintf(detail, size, "%" PRIu64 " alerts wait to be told", n->waiting);
        m->detail = n->detail[0] ? n->detail : NULL;
        state->notifier = m;
        PUT(state, actions_done, n->before.done + n->now.done);
        PUT(state, actions_failed, n->before.failed + n->now.failed);
        PUT(state, actions_dropped, n->before.dropped + n->now.dropped + n->lost);
}

/* ----------------------------------------------------------------------- life */

struct notifier *notifier_new(const struct notifier_options *options)
{
        struct notifier *n = calloc(1, sizeof(*n));

        if (!n)
                return NULL;
        n->options = *options;
        n->child_event = evsignal_new(options->base, SIGCHLD, on_child, n);
        n->again = evtimer_new(options->base, on_again, n);
        n->second = event_new(options->base, -1, EV_PERSIST, on_second, n);
        if (!n->child_event || !n->again || !n->second || event_add(n->child_event, NULL) != 0)
                notifier_destroy(&n);
        return n;
}

void notifier_stop(struct notifier *n)
{
        n->options.start = n->wanted = false;
        if (n->pipe)
                bufferevent_free(n->pipe);
        n->pipe = NULL;
        if (n->pid) {
                /* The daemon has stopped reading, so blocking is harmless now. */
                int status;

                (void)kill(n->pid, SIGTERM);
                if (!shutdown_reap(n->pid, &status, STOP_NOTIFIER)) {
                        log_warning("notifier: pid=%d does not end; killing it", (int)n->pid);
                        (void)kill(n->pid, SIGKILL);
                        (void)waitpid(n->pid, NULL, WNOHANG); /* WNOHANG: it may be stuck in the kernel */
                }
        }
        n->pid = 0;
        free_event(&n->child_event);
        free_event(&n->again);
        free_event(&n->second);
}

void notifier_destroy(struct notifier **np)
{
        struct notifier *n = *np;

        *np = NULL;
        if (!n)
                return;
        notifier_stop(n);
        free(n);
}
