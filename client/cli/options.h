/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - what the options of several commands have in common. */
#ifndef HW_CLIENT_CLI_OPTIONS_H
#define HW_CLIENT_CLI_OPTIONS_H

#include <stddef.h>

#include "client/cli/command.h"
#include "heapwatch/wire.h"

#define OPTIONS_MAX 256 /* members of one list */

/* Borrowed texts (of argv), in order. */
struct text_list {
        const char *items[OPTIONS_MAX];
        size_t n;
};

struct kind_list {
        Hw__Kind items[OPTIONS_MAX];
        size_t n;
};

/* Each returns 0, or EXIT_USAGE with a message printed for command `c`. */
int options_add(const struct command *c, struct text_list *list, const char *text);
/* "--option value", for a daemon that is started: NULL stands behind the last. */
int options_pass_on(const struct command *c, struct text_list *list, const char *option, const char *value);

/* How a daemon that is started judges growth: among a command's long options, and what takes one of them. */
#define OPTIONS_OF_TREND                                                                                               \
        { "resolution", required_argument, NULL, 'R' }, { "leak-after", required_argument, NULL, 'L' },                \
        {                                                                                                              \
                "limit", required_argument, NULL, 'M'                                                                  \
        }
int options_of_trend(const struct command *c, struct text_list *list, int option, const char *value);

/* "a,b": the commas in `text` are overwritten, the parts borrowed. */
int options_split(const struct command *c, struct text_list *list, char *text);
int options_kinds(const struct command *c, struct kind_list *list, char *text);

/* A number of ns from "500ms", "30s", "2m". */
int options_duration(const struct command *c, const char *option, const char *text, uint64_t *ret_ns);

#endif
