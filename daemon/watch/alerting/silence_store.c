/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the list is written after a change, never two writes at a time; a change during a write is written by the
 * next tick. A disk may hang for minutes (NFS, a full journal), so a child writes. It is started by fork, calls only
 * what is safe after that (whole_file.h), and first closes what it inherited, so that one that hangs keeps no source
 * and no socket open. It exits with the errno of its failure, which the next tick sees.
 */
#include "daemon/watch/alerting/silence_store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"
#include "proto/base/whole_file.h"
#include "proto/base/error.h"

struct silence_store {
        struct silences silences;
        struct event *tick;
        char *path;             /* NULL: nothing is kept */
        pid_t writer;           /* a child; 0: none */
        uint64_t changes, kept; /* of the list; how many of them the newest write includes */
        char not_kept[512];     /* why the newest write failed; "": it did not */
};

/* --------------------------------------------------------------------- file */

static void report_write(struct silence_store *s, int status)
{
        const int error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
        const bool failed_before = s->not_kept[0];

        s->writer = 0;
        s->not_kept[0] = '\0';
        if (!error)
                return;
        snprintf(s->not_kept, sizeof(s->not_kept), "%.300s: %s", s->path, strerror(error));
        if (!failed_before)
                log_warning("silences are not kept over a restart: %s", s->not_kept);
}

/* 0: there is none. All signals are blocked in the child, so no handler of the daemon runs. */
static pid_t start_writer(const char *path, const char *text)
{
        sigset_t all, before;

        (void)sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, &before);
        const pid_t child = _Fork();
        if (child == 0) {
                descriptors_close(STDERR_FILENO + 1);
                _exit(-whole_file_write(path, text, strlen(text)) & 0xff);
        }
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        return child > 0 ? child : 0;
}

static void write_state(struct silence_store *s)
{
        int status;

        if (s->writer && waitpid(s->writer, &status, WNOHANG) == s->writer)
                report_write(s, status);
        if (!s->path || s->kept == s->changes || s->writer)
                return;
        char *text = silence_state_text(&s->silences);
        s->writer = text ? start_writer(s->path, text) : 0;
        if (s->writer) /* else the next tick tries again */
                s->kept = s->changes;
        free(text);
}

static bool parse_state(void *ctx, const char *text, size_t size, struct error *error)
{
        return silence_state_parse(text, size, clock_wall_ns(), ctx, error);
}

/* ----------------------------------------------------------------- silences */

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
        struct silence_store *s = ctx;

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

struct silence_store *silence_store_new(struct event_base *base, const char *path)
{
        struct silence_store *s = calloc(1, sizeof(*s));
        struct timeval second = { .tv_sec = 1 };

        if (!s)
                return NULL;
        silences_init(&s->silences);
        s->tick = event_new(base, -1, EV_PERSIST, on_tick, s);
        s->path = path ? strdup(path) : NULL;
        if (!s->tick || event_add(s->tick, &second) != 0 || (path && !s->path)) {
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

/* The daemon has stopped reading, so waiting is harmless. A child that hangs is abandoned. */
static void await_writer(struct silence_store *s)
{
        int status;

        if (s->writer && shutdown_reap(s->writer, &status, STOP_SILENCES))
                report_write(s, status);
}

/* A second write after the one that may be in progress, so that the newest list is kept. */
void silence_store_destroy(struct silence_store **sp)
{
        struct silence_store *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        await_writer(s);
        write_state(s);
        await_writer(s);
        free_event(&s->tick);
        silences_done(&s->silences);
        free(s->path);
        free(s);
}
