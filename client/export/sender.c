/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/export/sender.h"
#include "proto/base/array.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *prefix;
        enum address_kind kind;
} prefixes[] = {
        { "http://", ADDRESS_HTTP }, { "https://", ADDRESS_HTTP }, { "tcp://", ADDRESS_TCP },
        { "udp://", ADDRESS_UDP },   { "unix:/", ADDRESS_UNIX },   { "unixgram:/", ADDRESS_UNIXGRAM },
};

enum address_kind address_kind(const char *address)
{
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (!strncmp(address, prefixes[i].prefix, strlen(prefixes[i].prefix)))
                        return prefixes[i].kind;
        return ADDRESS_BAD;
}

bool address_host(const char *address, char *host, size_t size, uint16_t *ret_port)
{
        const char *at = strstr(address, "://"), *colon = at ? strrchr(at + 3, ':') : NULL;
        char *end;

        if (!colon || colon == at + 3)
                return false;
        at += 3;
        unsigned long port = strtoul(colon + 1, &end, 10);
        if (colon[1] < '0' || colon[1] > '9' || *end || port == 0 || port > 65535)
                return false;
        size_t n = (size_t)(colon - at);
        if (*at == '[' && at[n - 1] == ']') { /* [::1]:2003 */
                at++;
                n -= 2;
        }
        if (n == 0 || n >= size || memchr(at, '/', n))
                return false;
        memcpy(host, at, n);
        host[n] = '\0';
        *ret_port = (uint16_t)port;
        return true;
}

struct sender *sender_new(const struct sender_options *options)
{
        static const struct sender_kind *const kinds[] = {
                [ADDRESS_HTTP] = &sender_http,         [ADDRESS_TCP] = &sender_stream,
                [ADDRESS_UDP] = &sender_datagram,      [ADDRESS_UNIX] = &sender_stream,
                [ADDRESS_UNIXGRAM] = &sender_datagram,
        };
        enum address_kind over = address_kind(options->address);
        const struct sender_kind *kind =
                over == ADDRESS_HTTP && options->batcher->over_http ? options->batcher->over_http : kinds[over];
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
