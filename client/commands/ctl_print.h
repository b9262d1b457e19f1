/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - replies of a daemon on standard output, as text for people or JSON for programs. */
#pragma once

#include <stdbool.h>

#include "client/cli/command.h"
#include "heapwatch/wire.h"

struct print_state {
        bool json;
        bool targets_only; /* of a status, only the targets */
        bool headed;       /* the table's heading was printed */
        bool refused;
        char refusal[512]; /* the daemon's own words, made safe */
};

/* For hw_request; `ctx` is a struct print_state. */
void print_reply(void *ctx, const Hw__Reply *reply);

/* What an agent answered; an empty answer is printed as done. */
void print_agent(const char *said, bool json);

/* silence.c: `ctl silence`, `unsilence` and `silences`: words to requests, silences to text. */

/*
 * words[0] is the verb. Returns 0 with the request (NULL when out of memory), or EXIT_USAGE after printing a message
 * for command `c`.
 */
int silence_parse(const struct command *c, Hw__Request **ret_request, char *const *words, int n_words, const char *why);

/* A table of silences, and below it why they are not kept over a restart, if so. */
void silence_print(const Hw__Silences *list);
