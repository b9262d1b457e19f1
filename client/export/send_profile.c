/* SPDX-License-Identifier: BSD-3-Clause */
/* send_profile.c - a profile to Pyroscope's /ingest: what it is of is in the URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/attempt.h"
#include "client/export/profiles.h"

#define TYPE "multipart/form-data; boundary="

struct profile_sender {
        struct sender base;
        struct attempt attempt;
};

static void on_done(void *ctx, const struct http_result *result)
{
        struct profile_sender *p = ctx;
        struct sent sent = attempt_sent(result);

        p->base.options.done(p->base.options.ctx, &sent);
}

static void destroy(struct sender *s)
{
        struct profile_sender *p = (struct profile_sender *)s;

        attempt_done(&p->attempt);
        free(p);
}

static struct sender *make(const struct sender_options *o)
{
        struct profile_sender *p = calloc(1, sizeof(*p));

        if (p && attempt_init(&p->attempt, o, on_done, p))
                return &p->base;
        free(p);
        return NULL;
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct profile_sender *p = (struct profile_sender *)s;
        struct http_post post = attempt_post(&s->options);
        char type[sizeof(TYPE) + PROFILE_BOUNDARY], *url;
        struct profile_parts parts;

        if (!profile_parts(&parts, batch)) {
                attempt_refuse(&p->attempt, "this is no profile");
                return;
        }
        size_t room = strlen(s->options.address) + parts.query_size + 2;
        url = malloc(room);
        if (!url) {
                attempt_refuse(&p->attempt, "out of memory");
                return;
        }
        (void)snprintf(url, room, "%s%c%.*s", s->options.address, strchr(s->options.address, '?') ? '&' : '?',
                       (int)parts.query_size, parts.query);
        (void)snprintf(type, sizeof(type), "%s%s", TYPE, parts.boundary);
        post.url = url;
        post.type = type;
        post.body = parts.body;
        post.size = parts.body_size;
        attempt_start(&p->attempt, &post);
        free(url);
}

const struct sender_kind sender_profile = { .make = make, .send = send_batch, .destroy = destroy };
