/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts.h - daemons on other machines by name: ~/.config/heapwatch/hosts.
 *
 *     prod-1:
 *       endpoint: tcp://prod-1.example.net:7700
 *       server_key: 9c0a...                      # or a list of at most four: the old one and the new one
 *       key: alice                               # optional: which of your own keys
 *
 * YAML; a mistake is reported with file, line and column. The file decides whom to trust, so one that others may
 * change is refused.
 */
#ifndef HW_CLIENT_CLI_HOSTS_H
#define HW_CLIENT_CLI_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/keys.h"
#include "proto/keys/key.h"

#define HOSTS_MAX     2000u
#define HOST_ENDPOINT 256

struct error_sink;

struct host {
        char name[KEY_NAME_MAX + 1];
        char endpoint[HOST_ENDPOINT]; /* tcp://HOST:PORT */
        uint8_t server[HW_SERVER_KEYS][HW_KEY_BYTES];
        size_t n_server;
        char key[HOST_ENDPOINT]; /* name or path of our own key; "": the only one */
};

struct hosts {
        struct host *list;
        size_t n;
};

/* False after reporting mistakes; then there are no hosts. */
bool hosts_parse(struct hosts *h, const char *file, const char *text, const struct error_sink *says);

/* The same for the user's file; a missing one has no hosts. */
bool hosts_read(struct hosts *h, const struct error_sink *says);
void hosts_done(struct hosts *h);

const struct host *hosts_find(const struct hosts *h, const char *name); /* NULL: there is none */

/* Its path. False: there is no $HOME. */
bool hosts_path(char *ret_path, size_t size);

#endif
