/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/sender.h"
#include "proto/base/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct timeval now = { 0, 0 };

static void on_failed(evutil_socket_t fd, short what, void *ctx)
{
        struct attempt *a = ctx;
        struct http_result result = { .again = a->again, .count = UINT64_MAX };

        (void)fd;
        (void)what;
        (void)snprintf(result.detail, sizeof(result.detail), "%.180s", a->error.text);
        a->done(a->ctx, &result);
}

/* No receiver answers with a page: a server that shows one for every URL, or while it is down, has taken nothing. */
static bool is_web_page(const struct http_result *r)
{
        size_t i = 0;

        while (i < r->body_size && strchr(" \t\r\n", r->body[i]))
                i++;
        return i < r->body_size && r->body[i] == '<';
}

static void on_done(void *ctx, const struct http_result *result)
{
        struct attempt *a = ctx;
        struct http_result judged = *result;

        a->request = NULL;
        if (result->ok && is_web_page(result)) {
                judged.ok = false;
                judged.again = true;
                (void)snprintf(judged.detail, sizeof(judged.detail), "HTTP %ld with a web page: is this its URL?",
                               result->status);
        }
        a->done(a->ctx, &judged);
}

bool attempt_init(struct attempt *a, const struct sender_options *options, http_done_fn *done, void *ctx)
{
        *a = (struct attempt){ .http = options->http, .done = done, .ctx = ctx };
        a->failed = evtimer_new(options->base, on_failed, a);
        return a->failed != NULL;
}

void attempt_done(struct attempt *a)
{
        http_cancel(&a->request);
        free_event(&a->failed);
}

struct http_post attempt_post(const struct sender_options *o)
{
        return (struct http_post){ .url = o->address,
                                   .bearer_file = o->bearer_file,
                                   .basic_file = o->basic_file,
                                   .ca_file = o->ca_file,
                                   .timeout_ns = o->timeout_ns };
}

void attempt_start(struct attempt *a, const struct http_post *post)
{
        a->request = http_start(a->http, post, on_done, a, &a->error);
        a->again = true;
        if (!a->request)
                (void)event_add(a->failed, &now);
}

void attempt_refuse(struct attempt *a, const char *why)
{
        a->again = false;
        error_set(&a->error, "%s", why);
        (void)event_add(a->failed, &now);
}

struct sent attempt_sent(const struct http_result *result)
{
        return (struct sent){ .ok = result->ok,
                              .again = result->again,
                              .retry_after_ns = result->retry_after_ns,
                              .detail = result->detail };
}

static void report_sent(void *ctx, const struct http_result *result)
{
        struct attempt_sender *s = ctx;
        struct sent sent = attempt_sent(result);
        char detail[sizeof(result->detail)];

        if (sent.ok && s->base.kind->refused) {
                sent.refused = s->base.kind->refused(result, detail, sizeof(detail));
                sent.detail = detail;
        }
        s->base.options.done(s->base.options.ctx, &sent);
}

struct sender *attempt_sender_new(const struct sender_options *options)
{
        struct attempt_sender *s = calloc(1, sizeof(*s));

        if (s && attempt_init(&s->attempt, options, report_sent, s))
                return &s->base;
        free(s);
        return NULL;
}

void attempt_sender_destroy(struct sender *sender)
{
        struct attempt_sender *s = (struct attempt_sender *)sender;

        attempt_done(&s->attempt);
        free(s);
}
