/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options that several commands have in common, each described once. */
#pragma once

#include "client/cli/command.h"
#include "client/cli/endpoints.h"
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

/*
 * How finished logs are judged, as typed: feed_files checks it, so that a command can report a mistake wherever its
 * result is expected. NULL: not given.
 */
struct judging {
        const char *resolution, *leak_after, *limit;
        struct text_list rules; /* files */
};

/* The first of its options that was given, for messages; NULL: none. */
const char *judging_given(const struct judging *j);

#define OPTIONS_OF_TREND(T, m)                                                                                         \
        OPTION_TEXT("resolution", 0, "TIME", T, m.resolution, COMPLETE_NOTHING,                                        \
                    "of files: step in which growth is judged, 100ms to 1h; default: from the log's length"),          \
                OPTION_TEXT("leak-after", 0, "TIME", T, m.leak_after, COMPLETE_NOTHING,                                \
                            "of files: growth of this length that does not slow down is a leak"),                      \
                OPTION_TEXT("limit", 0, "BYTES", T, m.limit, COMPLETE_NOTHING,                                         \
                            "of files: memory that the program may use, such as 2GiB")

#define OPTION_RULES(T, m)                                                                                             \
        OPTION_LIST("rules", 0, "FILE", T, m.rules, COMPLETE_FILE,                                                     \
                    "of files: rules of your own; may be repeated (heapwatch-rules(5))")

/* Parses "a,b", names of kinds of messages. 0, or EXIT_USAGE after a report. */
int options_kinds(const struct command *c, const struct option *o, struct kind_list *list, char *text);

/* The n-th kind's name, the n-th series' name, for tables. */
const char *options_nth_kind(size_t n);
const char *options_nth_series(size_t n);
