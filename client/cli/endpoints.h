/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoints.h - what --connect means: an endpoint, or the name of a host (hosts.c); and the keys for it.
 *
 * Daemons on other machines require keys, so tcp://HOST:PORT needs the daemon's public key: from the hosts file, or
 * by --server-key. Our own is --key, or the one in the hosts file, or the only one in ~/.config/heapwatch/keys.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/keys.h"
#include "proto/base/error.h"
#include "proto/cli/options.h"
#include "proto/cli/keys/key.h"

/* For the option tables: --key and --server-key, beside --connect. */
#define OPTIONS_KEYS                                                                                                   \
        OPTION_CALLBACK("key", 0, "NAME|FILE", endpoints_parse_key, COMPLETE_FILE,                                     \
                        "your own key for a daemon of another machine; default: the only one in "                      \
                        "~/.config/heapwatch/keys (see `heapwatch keys`)"),                                            \
                OPTION_CALLBACK("server-key", 0, "KEY", endpoints_parse_server_key, COMPLETE_NOTHING,                  \
                                "the public key of the daemon at tcp://HOST:PORT; one of the hosts file needs none")

option_taker endpoints_parse_key, endpoints_parse_server_key;

/* Room for the words of one daemon. */
#define ENDPOINTS_WORDS (4 + 2 * HW_SERVER_KEYS)

/* --connect, --key, --server-key as given, for a command that is to reach the same daemon. Returns how many words. */
size_t endpoints_words(const char *words[ENDPOINTS_WORDS]);

/* Whether that daemon's programs run on this machine. False with a sentence. */
bool endpoint_is_here(const char *endpoint, struct error *error);

/* For `option_endpoints`. */
extern const struct option_endpoints endpoints_by_name;

/*
 * hosts.c: daemons on other machines by name: ~/.config/heapwatch/hosts.
 *
 *     prod-1:
 *       endpoint: tcp://prod-1.example.net:7700
 *       server_key: 9c0a...                      # or a list of at most four: the old one and the new one
 *       key: alice                               # optional: which of your own keys
 *
 * YAML; a mistake is reported with file, line and column. The file decides whom to trust, so one that others may
 * change is refused.
 */

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
