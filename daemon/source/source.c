/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a source is a medium (one kind, a table of functions) and what all
 * kinds share: the sink, the counters and the last sentence reported. A medium
 * may report the same at every attempt; only changes reach the sink.
 *
 * A medium is woken in the next turn of the loop, so the sink is not called before
 * source_open has returned.
 */
#include "daemon/source/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "proto/base/event.h"
#include "proto/base/hash.h"
#include "daemon/source/medium.h"

static const struct medium *const media[] = {
        [SOURCE_FILE] = &medium_file,         [SOURCE_FIFO] = &medium_fifo,       [SOURCE_STDIN] = &medium_stdin,
        [SOURCE_UNIX] = &medium_connect,      [SOURCE_TCP] = &medium_connect,     [SOURCE_UNIX_LISTEN] = &medium_listen,
        [SOURCE_TCP_LISTEN] = &medium_listen, [SOURCE_PROCESS] = &medium_process, [SOURCE_OUTSIDE] = &medium_outside,
};

/* ------------------------------------------------------------------- its timer */

static const struct timeval at_once = { 0, 0 };

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
        struct source *s = ctx;

        s->medium->wake(s);
}

void source_wake(void *source)
{
        struct source *s = source;

        if (!evtimer_pending(s->timer, NULL)) /* adding a due timer again would put it off, forever if woken often */
                source_wake_after(s, &at_once);
}

void source_wake_after(struct source *s, const struct timeval *pause)
{
        (void)event_add(s->timer, pause); /* its slot exists since it was first added: needs no memory */
}

struct source *source_open(struct event_base *base, const struct source_uri *uri, const struct source_sink *sink,
                           const struct source_position *from, struct error *error)
{
        const struct medium *medium = media[uri->kind];
        struct source *s = calloc(1, medium->size);

        if (!s) {
                error_set(error, "out of memory");
                return NULL;
        }
        s->medium = medium;
        s->base = base;
        s->uri = *uri;
        s->sink = *sink;
        s->state = SOURCE_WAITING;
        if (from)
                s->from = *from;
        int r = medium->start(s, error);
        s->timer = r < 0 ? NULL : evtimer_new(base, on_timer, s);
        if (r == 0 && (!s->timer || event_add(s->timer, &at_once) != 0))
                r = error_code(error, -ENOMEM, "out of memory");
        if (r < 0)
                source_close(&s);
        return s;
}

void source_close(struct source **source)
{
        struct source *s = *source;

        *source = NULL;
        if (!s)
                return;
        s->medium->stop(s);
        free_event(&s->timer);
        source_drop_held(s);
        free(s);
}

void source_position(const struct source *s, struct source_position *ret)
{
        *ret = (struct source_position){ .known = false };
        if (s->medium->position)
                s->medium->position(s, ret);
}

bool source_send(struct source *s, const void *bytes, size_t n, struct error *error)
{
        if (!s->medium->send)
                return error_set(error,
                                 "%s takes no commands: only a program that serves its log by eventlog-socket does, "
                                 "as unix:PATH or tcp:HOST:PORT",
                                 s->uri.text);
        return s->medium->send(s, bytes, n, error);
}

const struct source_stats *source_stats(const struct source *s)
{
        return &s->stats;
}

uint32_t source_peer(const struct source *s)
{
        return s->peer;
}

uint64_t source_peer_stack(const struct source *s)
{
        return s->peer_stack;
}

bool source_is_local(const struct source *s)
{
        switch (s->uri.kind) {
        case SOURCE_STDIN:
                return false; /* may be the end of a pipe from anywhere */
        case SOURCE_TCP:
        case SOURCE_TCP_LISTEN:
                return source_uri_is_loopback(&s->uri);
        default:
                return true;
        }
}

/* ------------------------------------------------ what media report to the sink */

static const char *const state_names[] = {
        [SOURCE_WAITING] = "waiting", [SOURCE_OPEN] = "open", [SOURCE_ENDED] = "ended", [SOURCE_FAILED] = "failed"
};

__attribute__((format(printf, 3, 0))) static void set_state(struct source *s, enum source_state state,
                                                            const char *format, va_list args)
{
        char why[WHY_BYTES];

        (void)vsnprintf(why, sizeof(why), format, args); /* truncation is fine */
        const uint64_t said = hash_bytes(why, strlen(why), 0) | 1;
        if (said == s->said && state == s->state)
                return;
        s->state = state;
        s->said = said;
        log_debug("uri=%s state=%s attaches=%llu attempts=%llu why=\"%s\"", s->uri.text, state_names[state],
                  (unsigned long long)s->stats.attaches, (unsigned long long)s->stats.attempts, why);
        s->sink.state(s->sink.ctx, state, why);
}

void source_set_state(struct source *s, enum source_state state, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        set_state(s, state, format, args);
        va_end(args);
}

void source_set_attached(struct source *s, const char *format, ...)
{
        va_list args;

        s->stats.attaches++;
        s->stats.attempts = 0;
        va_start(args, format);
        set_state(s, SOURCE_OPEN, format, args);
        va_end(args);
}

void source_set_retry(struct source *s, enum source_state state, const char *format, ...)
{
        va_list args;

        s->stats.attempts++;
        va_start(args, format);
        set_state(s, state, format, args);
        va_end(args);
}

void source_cut(struct source *s, const char *format, ...)
{
        char why[WHY_BYTES];
        va_list args;

        if (!s->flowing)
                return;
        s->flowing = false;
        va_start(args, format);
        (void)vsnprintf(why, sizeof(why), format, args);
        va_end(args);
        log_debug("uri=%s bytes=%llu stream cut: %s", s->uri.text, (unsigned long long)s->stats.bytes, why);
        s->sink.cut(s->sink.ctx, why);
}

/* ---------------------------------------------------------------- descriptors that are kept */

static const struct keeper *current;

void keeper_set(const struct keeper *keeper)
{
        current = keeper;
}

void keeper_keep(const char *name, int fd)
{
        if (current)
                current->keep(current->ctx, name, fd);
}

void keeper_forget(const char *name)
{
        if (current)
                current->forget(current->ctx, name);
}
