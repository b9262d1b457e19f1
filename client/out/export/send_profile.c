/* SPDX-License-Identifier: BSD-3-Clause */
/* send_profile.c - a profile to Pyroscope's /ingest: what it is of is in the URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/plan.h"
#include "client/out/export/profile_batch.h"
#include "client/out/export/sender.h"

#define TYPE "multipart/form-data; boundary="

static void send_batch(struct sender *s, const struct batch *batch)
{
        char type[sizeof(TYPE) + PROFILE_BOUNDARY], *url;
        struct profile_parts parts;

        if (!profile_parts(&parts, batch)) {
                sender_refuse(s, "this is no profile");
                return;
        }
        size_t room = strlen(s->plan->address) + parts.query_size + 2;
        url = malloc(room);
        if (!url) {
                sender_refuse(s, "out of memory");
                return;
        }
        (void)snprintf(url, room, "%s%c%.*s", s->plan->address, strchr(s->plan->address, '?') ? '&' : '?',
                       (int)parts.query_size, parts.query);
        (void)snprintf(type, sizeof(type), "%s%s", TYPE, parts.boundary);
        struct http_post post = sender_post(s, parts.body, parts.body_size, type);
        post.url = url;
        sender_start(s, &post);
        free(url);
}

const struct sender_kind sender_profile = { .size = sizeof(struct sender),
                                            .send = send_batch,
                                            .answered = sender_report };
