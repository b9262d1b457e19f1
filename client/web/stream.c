/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c - one event to many browsers.
 *
 * DESIGN: updates are printed once and collected for 100 ms; then each browser
 * gets those it wants as one event. What is queued for a browser is in its
 * connection's output buffer, which is measured before more is added.
 *
 * When a connection breaks, libevent detaches the request from it and calls
 * on_close, which only sets a mark; the request is freed at the next tick,
 * never inside its own callback.
 */
#include "client/web/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/api/state_json.h"
#include "client/out/http/answer.h"
#include "client/world/state/world.h"
#include "proto/base/event.h"
#include "proto/base/hash.h"

/* -------------------------------------------------- answers that were sent */

/*
 * What was last sent to browsers about each target (client/answers): an answer goes out again when it has changed.
 * Kept is a hash of each text. Answers depend on a target's state alone, so a target without new messages is skipped.
 */
/* Zeroed: nothing was sent. */
struct answered {
        struct kept targets;
};

struct answered_target {
        struct kept_of of;
        uint64_t event_time_ns, published_wall_ns; /* of its newest message when it was last checked */
        uint64_t whole, brief;                     /* hashes */
};

static bool same_state(const struct answered_target *a, const struct world_target *t)
{
        return a->of.run == t->run && a->event_time_ns == t->event_time_ns &&
               a->published_wall_ns == t->published_wall_ns;
}

/* One of the two texts, if its hash differs from `hash`. */
static bool gather_changes(struct update_batch *p, const struct world_target *t, bool live, bool whole, uint64_t *hash)
{
        struct document d;
        bool good = true;

        document_open(&d);
        if (d.to)
                answers_print(&(struct json_out){ .to = d.to }, t, live, whole);
        if (!document_close(&d)) {
                good = false;
        } else if (*hash != hash_bytes(d.text, d.size, 0)) {
                *hash = hash_bytes(d.text, d.size, 0);
                good = update_batch_add_text(p, t->daemon, t->name, d.text, d.size, !whole);
        }
        document_done(&d);
        return good;
}

static bool gather_target(struct update_batch *p, const struct world_target *t, bool live, struct answered_target *now)
{
        now->of.run = t->run;
        now->event_time_ns = t->event_time_ns;
        now->published_wall_ns = t->published_wall_ns;
        bool good = gather_changes(p, t, live, true, &now->whole);
        return gather_changes(p, t, live, false, &now->brief) && good;
}

/* Adds to `p` the answers that have changed since the previous call. False: out of memory, some may be missing. */
static bool answered_gather(struct answered *a, const struct world *w, bool live, struct update_batch *p)
{
        bool good = true;

        a->targets.size = sizeof(struct answered_target);
        if (!kept_follow(&a->targets, w))
                return false;
        for (size_t i = 0; i < a->targets.n; i++) {
                struct answered_target *sent = kept_entry(&a->targets, i);
                const struct world_target *t = world_target(w, i);

                if (!sent->whole || !same_state(sent, t))
                        good = gather_target(p, t, live, sent) && good;
        }
        return good;
}

/* ------------------------------------------------------------------ stream */

struct stream {
        struct stream *next;
        struct evhttp_request *req;
        struct detail detail;
        bool behind; /* missed something: it needs the whole state */
        bool closed; /* the connection is closed */
};

struct streams {
        const struct state_source *source;
        struct connections *connections;
        struct event *tick, *second, *alive;
        struct stream *first;
        size_t n;
        struct update_batch batch; /* gathered since the last tick */
        struct answered answered;
        struct update_batch answers; /* those that have changed */
        uint64_t id;                 /* of the newest event */
        bool sent_any;               /* something was sent since the last "alive" */
        bool ended;
        const char *end_reason;
};

/* ------------------------------------------------------------------- writing */

static struct bufferevent *connection_of(const struct stream *s)
{
        struct evhttp_connection *c = s->closed ? NULL : evhttp_request_get_connection(s->req);

        return c ? evhttp_connection_get_bufferevent(c) : NULL;
}

static size_t waiting_bytes(const struct stream *s)
{
        struct bufferevent *b = connection_of(s);

        return b ? evbuffer_get_length(bufferevent_get_output(b)) : 0;
}

/*
 * Sends an event whose data is `size` bytes; newlines in it are JSON whitespace and split it into several data
 * lines.
 */
static void put_event(struct streams *all, struct stream *s, const char *name, const char *data, size_t size)
{
        struct evbuffer *out = connection_of(s) ? evbuffer_new() : NULL;

        if (!out)
                return;
        (void)evbuffer_add_printf(out, "id: %llu\nevent: %s\n", (unsigned long long)all->id, name);
        while (size > 0) {
                const char *end = memchr(data, '\n', size);
                size_t n = end ? (size_t)(end - data) : size;

                (void)evbuffer_add(out, "data: ", 6);
                (void)evbuffer_add(out, data, n);
                (void)evbuffer_add(out, "\n", 1);
                n += end != NULL;
                data += n;
                size -= n;
        }
        (void)evbuffer_add(out, "\n", 1);
        evhttp_send_reply_chunk(s->req, out);
        evbuffer_free(out);
        all->sent_any = true;
}

static void put_state(struct streams *all, struct stream *s)
{
        struct document d;

        document_open(&d);
        if (d.to)
                state_print(&(struct json_out){ .to = d.to }, all->source, &s->detail);
        if (document_close(&d)) {
                put_event(all, s, "state", d.text, d.size);
                s->behind = false;
        }
        document_done(&d);
}

/* Whether more may be queued for it; one that was behind and has caught up gets the state instead. */
static bool is_ready(struct streams *all, struct stream *s)
{
        size_t n = waiting_bytes(s);

        if (s->closed)
                return false;
        if (n > STREAM_BEHIND_BYTES || !connections_have_room(all->connections))
                s->behind = true;
        if (!s->behind)
                return true;
        if (n < STREAM_CAUGHT_UP_BYTES && connections_have_room(all->connections))
                put_state(all, s);
        return false;
}

/* ------------------------------------------------------------------- gathering */

static void flush_batch(struct streams *all, const char *name, struct update_batch *batch)
{
        if (!batch->first)
                return;
        all->id++;
        for (struct stream *s = all->first; s; s = s->next) {
                struct document d;
                bool any = false;

                if (!is_ready(all, s))
                        continue;
                document_open(&d);
                if (d.to)
                        any = update_batch_print(batch, &(struct json_out){ .to = d.to }, &s->detail,
                                                 all->source->world);
                if (document_close(&d) && any)
                        put_event(all, s, name, d.text, d.size);
                document_done(&d);
        }
        update_batch_clear(batch);
}

/* Sends what was collected, so that it goes out before whatever comes next. */
static void flush_streams(struct streams *all)
{
        flush_batch(all, "updates", &all->batch);
}

/* -------------------------------------------------------------- their lives */

static void reap_streams(struct streams *all)
{
        for (struct stream **at = &all->first; *at;) {
                struct stream *s = *at;

                if (!s->closed) {
                        at = &s->next;
                        continue;
                }
                *at = s->next;
                all->n--;
                evhttp_send_reply_end(s->req); /* without a connection this frees the request */
                free(s);
        }
}

static void on_close(struct evhttp_connection *c, void *arg)
{
        struct stream *s = arg;

        s->closed = true;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
        reap_streams(arg);
        flush_streams(arg);
}

/* Something could not be sent as it happened. */
static void all_behind(struct streams *all)
{
        for (struct stream *s = all->first; s; s = s->next)
                s->behind = true;
}

/* Answers follow from the state, and go out a tenth as often. */
static void flush_answers(struct streams *all)
{
        flush_streams(all);
        if (all->first && !answered_gather(&all->answered, all->source->world, all->source->live, &all->answers))
                all_behind(all);
        flush_batch(all, "answers", &all->answers);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
        flush_answers(arg);
}

/* A comment when nothing was sent, so that both ends notice a dead connection; also for those that lag behind. */
static void on_alive(evutil_socket_t fd, short what, void *arg)
{
        struct streams *all = arg;

        reap_streams(all);
        for (struct stream *s = all->first; s; s = s->next) {
                bool idle = is_ready(all, s) && !all->sent_any && waiting_bytes(s) == 0;
                struct evbuffer *out = idle ? evbuffer_new() : NULL;

                if (!out)
                        continue;
                (void)evbuffer_add_printf(out, ": alive\n\n");
                evhttp_send_reply_chunk(s->req, out);
                evbuffer_free(out);
        }
        all->sent_any = false;
}

static void put_end(struct streams *all, struct stream *s)
{
        struct document d;

        document_open(&d);
        if (d.to) {
                struct json_out j = { .to = d.to };

                json_open(&j, '{');
                json_member_text(&j, "reason", all->end_reason);
                json_close(&j, '}');
        }
        if (document_close(&d))
                put_event(all, s, "end", d.text, d.size);
        document_done(&d);
}

void streams_begin(struct streams *all, struct evhttp_request *req, const struct detail *detail)
{
        static const struct timeval stalled = { STREAM_STALLED_S, 0 };
        struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
        struct stream *s = all->n < STREAMS_MOST ? calloc(1, sizeof(*s)) : NULL;

        if (!s) {
                answer_error(req, 503, all->n < STREAMS_MOST ? "out of memory" : "too many streams are open");
                return;
        }
        s->req = req;
        s->detail = *detail;
        answer_headers(req);
        (void)evhttp_add_header(headers, "Content-Type", "text/event-stream");
        (void)evhttp_add_header(headers, "X-Accel-Buffering", "no");
        evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_close, s);
        flush_streams(all);
        s->next = all->first;
        all->first = s;
        all->n++;
        evhttp_send_reply_start(req, 200, "OK");
        if (connection_of(s))
                bufferevent_set_timeouts(connection_of(s), NULL, &stalled);
        all->id++;
        put_state(all, s);
        if (all->ended)
                put_end(all, s);
}

/* ---------------------------------------------------------------- what happened */

void streams_update(struct streams *all, size_t daemon, const Hw__Update *u)
{
        static const struct timeval tenth = { 0, 100000 };

        if (!all->first)
                return;
        if (!event_pending(all->tick, EV_TIMEOUT, NULL))
                (void)event_add(all->tick, &tenth);
        if (all->batch.bytes > STREAM_BATCH_BYTES || !update_batch_add(&all->batch, daemon, u))
                all_behind(all);
}

static void send_all(struct streams *all, const char *name, const struct document *d)
{
        all->id++;
        for (struct stream *s = all->first; s; s = s->next) {
                if (is_ready(all, s))
                        put_event(all, s, name, d->text, d->size);
        }
}

void streams_daemon(struct streams *all, size_t daemon)
{
        struct document d;

        flush_streams(all);
        document_open(&d);
        if (d.to)
                state_print_daemon(&(struct json_out){ .to = d.to }, all->source, daemon);
        if (document_close(&d))
                send_all(all, "daemon", &d);
        document_done(&d);
}

void streams_forget(struct streams *all, size_t daemon)
{
        struct document d;

        flush_streams(all);
        document_open(&d);
        if (d.to)
                (void)fprintf(d.to, "{\"daemon\":%zu}", daemon);
        if (document_close(&d))
                send_all(all, "forget", &d);
        document_done(&d);
}

void streams_end(struct streams *all, const char *reason)
{
        flush_answers(all);
        all->ended = true;
        all->end_reason = reason;
        all->id++;
        for (struct stream *s = all->first; s; s = s->next)
                put_end(all, s);
}

struct streams *streams_new(struct event_base *base, const struct state_source *source, struct connections *connections)
{
        static const struct timeval seconds = { 5, 0 }, second = { 1, 0 };
        struct streams *all = calloc(1, sizeof(*all));

        if (!all)
                return NULL;
        all->source = source;
        all->connections = connections;
        update_batch_init(&all->batch);
        update_batch_init(&all->answers);
        all->tick = evtimer_new(base, on_tick, all);
        all->alive = event_new(base, -1, EV_PERSIST, on_alive, all);
        all->second = event_new(base, -1, EV_PERSIST, on_second, all);
        if (!all->tick || !all->alive || !all->second || event_add(all->alive, &seconds) ||
            event_add(all->second, &second))
                streams_destroy(&all);
        return all;
}

void streams_destroy(struct streams **all)
{
        if (!*all)
                return;
        reap_streams(*all);
        for (struct stream *s = (*all)->first; s;) {
                struct stream *next = s->next;

                evhttp_connection_set_closecb(evhttp_request_get_connection(s->req), NULL, NULL);
                evhttp_send_reply_end(s->req);
                free(s);
                s = next;
        }
        update_batch_clear(&(*all)->batch);
        update_batch_clear(&(*all)->answers);
        kept_clear(&(*all)->answered.targets);
        free_event(&(*all)->tick);
        free_event(&(*all)->alive);
        free_event(&(*all)->second);
        free(*all);
        *all = NULL;
}
