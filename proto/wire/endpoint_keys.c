/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint_keys.c - a list for the whole process: a daemon has one key, whoever in the process speaks to it. */
#include "proto/wire/endpoints.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define Z85_TEXT 41u

static struct endpoint_keys *list;
static size_t n_list;

static struct endpoint_keys *find(const char *publish)
{
        for (size_t i = 0; i < n_list; i++)
                if (!strcmp(list[i].publish, publish))
                        return &list[i];
        return NULL;
}

const struct endpoint_keys *endpoint_keys_of(const char *publish)
{
        return find(publish);
}

static int forget(struct endpoint_keys *k)
{
        if (!k)
                return 0;
        free(k->publish);
        explicit_bzero(k, sizeof(*k));
        *k = list[--n_list];
        return 0;
}

/* The entry of an endpoint, made when there is none. NULL: out of memory. */
static struct endpoint_keys *entry_of(const char *publish)
{
        struct endpoint_keys *k = find(publish);
        char *copy;

        if (k)
                return k;
        if (!ARRAY_RESERVE_NEXT(list, n_list))
                return NULL;
        copy = strdup(publish);
        if (!copy)
                return NULL;
        k = &list[n_list++];
        *k = (struct endpoint_keys){ .publish = copy };
        return k;
}

static int public_of(const uint8_t secret[HW_KEY_BYTES], uint8_t ret_public[HW_KEY_BYTES])
{
        char text[Z85_TEXT], public[Z85_TEXT];
        bool good = zmq_z85_encode(text, secret, HW_KEY_BYTES) && zmq_curve_public(public, text) == 0 &&
                    zmq_z85_decode(ret_public, public);

        explicit_bzero(text, sizeof(text));
        return good ? 0 : -ENOTSUP;
}

int hw_endpoint_keys(const char *publish, const uint8_t secret[HW_KEY_BYTES], const uint8_t *server, size_t n)
{
        uint8_t public[HW_KEY_BYTES];

        if (!publish || n > HW_SERVER_KEYS || (n > 0 && (!secret || !server)))
                return -EINVAL;
        if (n == 0)
                return forget(find(publish));
        int r = public_of(secret, public);
        struct endpoint_keys *k = r == 0 ? entry_of(publish) : NULL;
        if (!k)
                return r ? r : -ENOMEM;
        memcpy(k->secret, secret, HW_KEY_BYTES);
        memcpy(k->public, public, HW_KEY_BYTES);
        memcpy(k->server, server, n * HW_KEY_BYTES);
        k->n_server = n;
        return 0;
}
