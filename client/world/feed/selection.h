/* SPDX-License-Identifier: BSD-3-Clause */
/* selection.h - what a command works on, as typed: finished logs, or targets of daemons. */
#pragma once

#include "client/cli/options.h"
#include "client/world/feed/feed.h"

struct selection {
        struct text_list operands;  /* logs or targets, as typed; selection_check sorts them into: */
        struct text_list files;     /* logs; a command that takes nothing else fills it itself */
        struct text_list targets;   /* of daemons; none: all */
        struct text_list endpoints; /* of daemons; none: the user's own */
        struct judging judging;     /* of logs */
        struct update_wish wish;    /* of logs */
};

/* Tells logs and targets apart. 0, or EXIT_USAGE after a report in the command's name: there are both. */
int selection_sort(const struct command *c, struct selection *s);

/* The same, and options that belong to logs are refused when there is none. */
int selection_check(const struct command *c, struct selection *s);

/* Whether a target is one of `targets`, of which none means all. */
bool selection_has_target(const struct selection *s, const char *name);

/* Reads the logs, or follows the daemons, from which only messages of n_kinds `kinds` are wanted (0: all). */
struct feed *selection_open(const struct selection *s, const Hw__Kind *kinds, size_t n_kinds, struct error *error);
