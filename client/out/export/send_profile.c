/* SPDX-License-Identifier: BSD-3-Clause */
/* send_profile.c - a profile to Pyroscope's /ingest: what it is of is in the URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/profile_batch.h"
#include "client/out/export/sender.h"

#define TYPE "multipart/form-data; boundary="

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct attempt_sender *p = (struct attempt_sender *)s;
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

const struct sender_kind sender_profile = { .make = attempt_sender_new,
                                            .send = send_batch,
                                            .destroy = attempt_sender_destroy };
