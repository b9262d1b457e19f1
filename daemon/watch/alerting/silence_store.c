/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the list is written after a change, at most once a second and never two writes at a time; a change during a
 * write is written by the next tick.
 */
#include "daemon/watch/alerting/silence_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"
#include "proto/base/whole_file.h"
#include "proto/base/error.h"
#include "proto/wire/endpoints.h"

struct silence_store {
        struct silences silences;
        struct file_writer *writer; /* NULL: nothing is kept */
        struct event *tick;
        char *path;
        uint64_t changes, kept; /* of the list; how many of them the newest write includes */
        char not_kept[512];     /* why the newest write failed; "": it did not */
};

/* --------------------------------------------------------------------- file */

static void write_state(struct silence_store *s)
{
        if (!s->writer || s->kept == s->changes || file_writer_is_busy(s->writer))
                return;
        char *text = silence_state_text(&s->silences);
        if (text && file_writer_start(s->writer, text)) /* else the next tick tries again */
                s->kept = s->changes;
        free(text);
}

static void on_written(void *ctx, const char *error)
{
        struct silence_store *s = ctx;
        bool failed_before = s->not_kept[0];

        s->not_kept[0] = '\0';
        if (!error)
                return;
        snprintf(s->not_kept, sizeof(s->not_kept), "%.300s: %s", s->path, error);
        if (!failed_before)
                log_warning("silences are not kept over a restart: %s", s->not_kept);
}

static bool parse_state(void *ctx, const char *text, size_t size, struct error *error)
{
        return silence_state_parse(text, size, clock_wall_ns(), ctx, error);
}

/* ----------------------------------------------------------------- silences */

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
        struct silence_store *s = ctx;

        (void)fd;
        (void)what;
        if (silences_expire(&s->silences, clock_wall_ns()) > 0)
                s->changes++;
        write_state(s);
}

const struct silence *silence_store_find(const struct silence_store *s, const char *rule, const char *target)
{
        return silences_find(&s->silences, rule, target, clock_wall_ns());
}

bool silence_store_add(struct silence_store *s, struct silence *silence, struct error *error)
{
        uint64_t now = clock_wall_ns();

        silence->id = 0;
        silence->created_wall_ns = now;
        if (!silences_add(&s->silences, silence, now, &silence->id, error))
                return false;
        s->changes++;
        write_state(s);
        return true;
}

size_t silence_store_remove(struct silence_store *s, uint64_t id, const char *rule, const char *target)
{
        size_t n = silences_remove(&s->silences, id, rule, target);

        s->changes += n > 0;
        write_state(s);
        return n;
}

const struct silences *silence_store_list(const struct silence_store *s)
{
        return &s->silences;
}

const char *silence_store_not_kept(const struct silence_store *s)
{
        if (!s->path)
                return "there is no directory for the daemon's state; set XDG_STATE_HOME";
        return s->not_kept[0] ? s->not_kept : NULL;
}

/* --------------------------------------------------------------------- life */

int silence_store_path(char *out, size_t size, const char *publish_endpoint)
{
        return state_path(out, size, "state", publish_endpoint);
}

struct silence_store *silence_store_new(struct event_base *base, const char *path)
{
        struct silence_store *s = calloc(1, sizeof(*s));
        struct timeval second = { .tv_sec = 1 };

        if (!s)
                return NULL;
        silences_init(&s->silences);
        s->tick = event_new(base, -1, EV_PERSIST, on_tick, s);
        if (path) {
                struct file_writer_options options = { .base = base, .path = path, .written = on_written, .ctx = s };
                s->path = strdup(path);
                s->writer = file_writer_new(&options);
        }
        if (!s->tick || event_add(s->tick, &second) != 0 || (path && (!s->path || !s->writer))) {
                silence_store_destroy(&s);
                return NULL;
        }
        if (path) {
                struct error error;
                if (!whole_file_restore(s->path, SILENCE_STATE_BYTES_MAX, parse_state, &s->silences, &error))
                        log_error("state file %s: there are no silences", error.text);
        }
        return s;
}

/* A second write after the one that may be in progress, so that the newest list is kept. */
void silence_store_destroy(struct silence_store **sp)
{
        struct silence_store *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        if (s->writer && s->path) {
                file_writer_wait(s->writer);
                write_state(s);
        }
        file_writer_destroy(&s->writer);
        free_event(&s->tick);
        silences_done(&s->silences);
        free(s->path);
        free(s);
}
