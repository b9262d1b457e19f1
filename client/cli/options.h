/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options that several commands have in common, each described once. */
#ifndef HW_CLIENT_CLI_OPTIONS_H
#define HW_CLIENT_CLI_OPTIONS_H

#include "client/cli/command.h"
#include "client/hosts/endpoints.h"
#include "heapwatch/wire.h"
#include "proto/cli/options.h"

struct kind_list {
        Hw__Kind items[OPTIONS_MAX];
        size_t n;
};

#define OPTION_CONNECT(T, m)                                                                                           \
        OPTION_LIST("connect", 'c', "EP", T, m, COMPLETE_ENDPOINT,                                                     \
                    "follow the daemon whose publish endpoint is EP (ipc://PATH, tcp://HOST:PORT, or a host of "       \
                    "~/.config/heapwatch/hosts); may be repeated; default: your own daemon"),                          \
                OPTIONS_KEYS

/* Of a command that asks one daemon. */
#define OPTION_CONNECT_ONE(T, m, text)                                                                                 \
        OPTION_TEXT("connect", 'c', "EP", T, m, COMPLETE_ENDPOINT,                                                     \
                    text                                                                                               \
                    " (ipc://PATH, tcp://HOST:PORT, or a host of ~/.config/heapwatch/hosts); default: your own "       \
                    "daemon"),                                                                                         \
                OPTIONS_KEYS

/* How a daemon started by the command judges growth. */
#define OPTIONS_OF_TREND(T, m)                                                                                         \
        OPTION_PASSED("resolution", "TIME", T, m, COMPLETE_NOTHING,                                                    \
                      "of files: step in which growth is judged, 100ms to 1h; default: from the log's length"),        \
                OPTION_PASSED("leak-after", "TIME", T, m, COMPLETE_NOTHING,                                            \
                              "of files: growth of this length that does not slow down is a leak"),                    \
                OPTION_PASSED("limit", "BYTES", T, m, COMPLETE_NOTHING,                                                \
                              "of files: memory that the program may use, such as 2GiB")

#define OPTION_RULES(T, m)                                                                                             \
        OPTION_PASSED("rules", "FILE", T, m, COMPLETE_FILE,                                                            \
                      "of files: rules of your own; may be repeated (heapwatch-rules(5))")

/* Parses "a,b", names of kinds of messages. 0, or EXIT_USAGE after a report. */
int options_kinds(const struct command *c, const struct option *o, struct kind_list *list, char *text);

/* The n-th kind's name, the n-th series' name, for tables. */
const char *options_nth_kind(size_t n);
const char *options_nth_series(size_t n);

#endif
