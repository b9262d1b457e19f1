/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the desk's decisions become orders to the worker, the worker's
 * reports go back to the desk. What must be kept is written after a change,
 * at most once a TICK and never two writes at a time, so that a hundred
 * alerts at once are one file.
 */
#include "daemon/act/act.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/act/file.h"
#include "daemon/act/state.h"
#include "daemon/act/worker.h"
#include "proto/base/hash.h"
#include "proto/base/clock.h"
#include "heapwatch/wire.h"
#include "daemon/log.h"

#define STATE_PATH_MAX 4096u

struct act {
        struct act_options options;
        struct worker *worker;
        struct desk *desk;
        struct silences silences;
        struct event *tick;
        char *state_path; /* NULL: nothing is kept */
        bool writing;
        uint64_t silence_changes;
        uint64_t kept_silences, kept_done; /* changes that the newest write includes */
        char not_kept[512];                /* why the newest write failed; empty: it did not */
        uint64_t done, failed, dropped;
};

/* ----------------------------------------------------------- the state file */

static void write_state(struct act *a)
{
        size_t n;
        const struct desk_done *done = desk_done_list(a->desk, &n);
        bool changed = a->kept_silences != a->silence_changes || a->kept_done != desk_done_changes(a->desk);

        if (!a->state_path || a->writing || !changed)
                return;
        char *text = state_text(&a->silences, done, n);
        if (!text || worker_write(a->worker, a->state_path, text) < 0)
                return; /* the next tick tries again */
        a->writing = true;
        a->kept_silences = a->silence_changes;
        a->kept_done = desk_done_changes(a->desk);
}

static void on_written(void *ctx, const char *error)
{
        struct act *a = ctx;
        bool failed_before = a->not_kept[0];

        a->writing = false;
        if (!error) {
                a->not_kept[0] = '\0';
                return;
        }
        snprintf(a->not_kept, sizeof(a->not_kept), "%.300s: %s", a->state_path, error);
        if (!failed_before)
                log_warning("silences are not kept over a restart: %s", a->not_kept);
}

static void set_aside(const char *path, const char *why)
{
        char aside[STATE_PATH_MAX + 16];

        snprintf(aside, sizeof(aside), "%s.broken", path);
        if (rename(path, aside) == 0)
                log_error("state file %s is not usable: %s; it is now %s, and silences begin empty", path, why, aside);
        else
                log_error("state file %s is not usable: %s; it could not be moved aside: %s", path, why,
                          strerror(errno));
}

static void read_state(struct act *a)
{
        char *text = NULL, error[512];
        size_t size;
        int err = file_read(a->state_path, STATE_BYTES_MAX, &text, &size);

        if (err == -ENOENT || err == -ENOTDIR)
                return;
        if (err == -EPERM)
                set_aside(a->state_path, "expected a regular file that belongs to this user");
        else if (err == -EFBIG)
                set_aside(a->state_path, "it is larger than 4 MiB");
        else if (err < 0)
                log_error("state file %s cannot be read: %s", a->state_path, strerror(-err));
        else if (!state_parse(text, size, clock_wall_ns(), &a->silences, a->desk, error, sizeof(error)))
                set_aside(a->state_path, error);
        free(text);
}

/* One file for each daemon: its name tells the endpoint, the usual one's is plain. */
int act_state_path(char *out, size_t size, const char *publish_endpoint)
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *below = "", *directory = state;
        char usual[256], request[256];
        uint64_t name = 0;

        if (!state || state[0] != '/') {
                directory = geteuid() == 0 ? "/var/lib" : home;
                below = geteuid() == 0 ? "" : "/.local/state";
        }
        if (!directory || directory[0] != '/')
                return -ENOENT;
        if (hw_default_endpoints(usual, request, sizeof(usual)) < 0 || strcmp(usual, publish_endpoint) != 0)
                name = hash_bytes(publish_endpoint, strlen(publish_endpoint), 0);
        int n = name ? snprintf(out, size, "%s%s/heapwatch/state-%016" PRIx64 ".json", directory, below, name)
                     : snprintf(out, size, "%s%s/heapwatch/state.json", directory, below);
        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* ------------------------------------------------------- desk and worker */

static void on_report(void *ctx, const struct act_report *report)
{
        struct act *a = ctx;

        a->done += report->outcome == ACT_DONE;
        a->failed += report->outcome == ACT_FAILED;
        a->dropped += report->outcome == ACT_SKIPPED;
        desk_report(a->desk, report);
}

static bool on_act(void *ctx, const struct notice *notice, struct act_plan *plan, bool known)
{
        struct act *a = ctx;

        return worker_act(a->worker, notice, plan, known) == 0;
}

static void on_changed(void *ctx, const struct notice *notice)
{
        struct act *a = ctx;

        if (a->options.changed)
                a->options.changed(a->options.ctx, notice);
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
        struct act *a = ctx;
        uint64_t now = clock_wall_ns();

        (void)fd;
        (void)what;
        if (silences_expire(&a->silences, now) > 0)
                a->silence_changes++;
        desk_tick(a->desk, now);
        write_state(a);
}

/* ------------------------------------------------------------------ the rest */

void act_take(struct act *a, const struct notice *notice, struct act_plan *plan)
{
        desk_take(a->desk, notice, plan, clock_wall_ns());
}

void act_end_target(struct act *a, const char *target)
{
        desk_end_target(a->desk, target, "The target was removed from the daemon.", clock_wall_ns());
}

const struct act_report *act_results(const struct act *a, uint64_t fingerprint, size_t *ret_n)
{
        return desk_results(a->desk, fingerprint, ret_n);
}

const struct silence *act_silence_of(const struct act *a, const char *rule, const char *target)
{
        return silences_find(&a->silences, rule, target, clock_wall_ns());
}

uint64_t act_silence_changes(const struct act *a)
{
        return a->silence_changes;
}

static void silences_changed(struct act *a)
{
        a->silence_changes++;
        desk_tick(a->desk, clock_wall_ns());
        write_state(a);
}

bool act_silence(struct act *a, struct silence *silence, char *error, size_t error_size)
{
        uint64_t now = clock_wall_ns();

        silence->id = 0;
        silence->created_wall_ns = now;
        if (!silences_add(&a->silences, silence, now, &silence->id, error, error_size))
                return false;
        silences_changed(a);
        return true;
}

size_t act_unsilence(struct act *a, uint64_t id, const char *rule, const char *target)
{
        size_t n = silences_remove(&a->silences, id, rule, target);

        if (n > 0)
                silences_changed(a);
        return n;
}

const struct silences *act_silences(const struct act *a)
{
        return &a->silences;
}

const char *act_not_kept(const struct act *a)
{
        if (!a->state_path)
                return "there is no directory for the daemon's state; set XDG_STATE_HOME";
        return a->not_kept[0] ? a->not_kept : NULL;
}

void act_stats(const struct act *a, struct act_stats *ret)
{
        ret->desk = *desk_stats(a->desk);
        ret->done = a->done;
        ret->failed = a->failed;
        ret->dropped = a->dropped;
}

struct act *act_new(const struct act_options *options)
{
        struct act *a = calloc(1, sizeof(*a));
        struct timeval second = { .tv_sec = 1 };

        if (!a)
                return NULL;
        const struct worker_options worker = { .base = options->base,
                                               .report = on_report,
                                               .written = on_written,
                                               .ctx = a,
                                               .retry_ns = options->retry_ns };
        const struct desk_handler handler = { .ctx = a, .act = on_act, .changed = on_changed };

        a->options = *options;
        silences_init(&a->silences);
        a->desk = desk_new(&handler, &a->silences);
        a->worker = worker_new(&worker);
        a->tick = event_new(options->base, -1, EV_PERSIST, on_tick, a);
        if (options->state_path)
                a->state_path = strdup(options->state_path);
        if (!a->desk || !a->worker || !a->tick || event_add(a->tick, &second) != 0 ||
            !a->state_path != !options->state_path) {
                act_destroy(&a);
                return NULL;
        }
        if (a->state_path)
                read_state(a);
        return a;
}

void act_destroy(struct act **ap)
{
        struct act *a = *ap;

        *ap = NULL;
        if (!a)
                return;
        a->writing = false; /* one more behind the one under way: the newest is what stays */
        if (a->worker && a->desk)
                write_state(a);
        worker_destroy(&a->worker);
        if (a->tick)
                event_free(a->tick);
        desk_destroy(&a->desk);
        silences_done(&a->silences);
        free(a->state_path);
        free(a);
}
