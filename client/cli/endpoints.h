/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoints.h - what --connect means: an endpoint, or the name of a host (hosts.h); and the keys for it.
 *
 * Daemons on other machines require keys, so tcp://HOST:PORT needs the daemon's public key: from the hosts file, or
 * by --server-key. Our own is --key, or the one in the hosts file, or the only one in ~/.config/heapwatch/keys.
 */
#ifndef HW_CLIENT_CLI_ENDPOINTS_H
#define HW_CLIENT_CLI_ENDPOINTS_H

#include <stdbool.h>

#include "heapwatch/keys.h"
#include "proto/base/error.h"
#include "proto/cli/options.h"

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

#endif
