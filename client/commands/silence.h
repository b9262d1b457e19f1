/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h - `ctl silence`, `unsilence` and `silences`: words to requests, silences to text. */
#ifndef HW_CLIENT_COMMANDS_SILENCE_H
#define HW_CLIENT_COMMANDS_SILENCE_H

#include "client/cli/command.h"
#include "heapwatch/wire.h"

/*
 * words[0] is the verb. Returns 0 with the request (NULL when out of memory), or EXIT_USAGE after printing a message
 * for command `c`.
 */
int silence_parse(const struct command *c, Hw__Request **ret_request, char *const *words, int n_words, const char *why);

/* A table of silences, and below it why they are not kept over a restart, if so. */
void silence_print(const Hw__Silences *list);

#endif
