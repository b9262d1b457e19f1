/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/plan.h"
#include "proto/base/event.h"

static const struct timeval now = { 0, 0 };

bool address_is_http(const char *address)
{
        return !strncmp(address, "http://", 7) || !strncmp(address, "https://", 8);
}

static void on_failed(evutil_socket_t fd, short what, void *ctx)
{
        struct sender *s = ctx;
        struct http_result result = { .again = s->again, .count = UINT64_MAX };

        (void)snprintf(result.detail, sizeof(result.detail), "%.180s", s->error.text);
        s->kind->answered(s, &result);
}

struct sender *sender_new(const struct sink_plan *plan, struct event_base *base, struct http *http, sent_fn *done,
                          void *ctx)
{
        const struct sender_kind *kind = sink_batcher(plan)->sender;
        struct sender *s = calloc(1, kind->size);

        if (!s)
                return NULL;
        s->kind = kind;
        s->plan = plan;
        s->http = http;
        s->done = done;
        s->ctx = ctx;
        s->failed = evtimer_new(base, on_failed, s);
        if (!s->failed)
                sender_destroy(&s);
        return s;
}

void sender_destroy(struct sender **sp)
{
        struct sender *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        http_cancel(&s->request);
        free_event(&s->failed);
        if (s->kind->release)
                s->kind->release(s);
        free(s);
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
        struct sender *s = ctx;
        struct http_result judged = *result;

        s->request = NULL;
        if (result->ok && is_web_page(result)) {
                judged.ok = false;
                judged.again = true;
                (void)snprintf(judged.detail, sizeof(judged.detail), "HTTP %ld with a web page: is this its URL?",
                               result->status);
        }
        s->kind->answered(s, &judged);
}

struct http_post sender_post(const struct sender *s, const void *body, size_t size, const char *type)
{
        const struct sink_plan *p = s->plan;

        return (struct http_post){ .url = p->address,
                                   .body = body,
                                   .size = size,
                                   .type = type,
                                   .bearer_file = p->bearer_file,
                                   .basic_file = p->basic_file,
                                   .ca_file = p->ca_file,
                                   .timeout_ns = p->timeout_ns };
}

void sender_start(struct sender *s, const struct http_post *post)
{
        s->request = http_start(s->http, post, on_done, s, &s->error);
        s->again = true;
        if (!s->request)
                (void)event_add(s->failed, &now);
}

void sender_refuse(struct sender *s, const char *why)
{
        s->again = false;
        error_set(&s->error, "%s", why);
        (void)event_add(s->failed, &now);
}

struct sent sender_outcome(const struct http_result *result)
{
        return (struct sent){ .ok = result->ok,
                              .again = result->again,
                              .retry_after_ns = result->retry_after_ns,
                              .detail = result->detail };
}

void sender_report(struct sender *s, const struct http_result *result)
{
        const struct sent sent = sender_outcome(result);

        s->done(s->ctx, &sent);
}
