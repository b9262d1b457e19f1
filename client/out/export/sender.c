/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/sender.h"

#include <string.h>

bool address_is_http(const char *address)
{
        return !strncmp(address, "http://", 7) || !strncmp(address, "https://", 8);
}

struct sender *sender_new(const struct sender_options *options)
{
        const struct sender_kind *kind = options->batcher->sender;
        struct sender *s = kind->make(options);

        if (!s)
                return NULL;
        s->kind = kind;
        s->options = *options;
        return s;
}

void sender_destroy(struct sender **s)
{
        if (*s)
                (*s)->kind->destroy(*s);
        *s = NULL;
}

void sender_send(struct sender *s, const struct batch *batch)
{
        s->kind->send(s, batch);
}
