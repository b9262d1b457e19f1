/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h - `ctl silence`, `unsilence` and `silences`: words to requests, silences to text. */
#ifndef HW_CLIENT_CTL_SILENCE_H
#define HW_CLIENT_CTL_SILENCE_H

#include "client/cli/command.h"
#include "heapwatch/wire.h"

/* Room for whichever request it becomes; texts are borrowed from the words. */
struct silence_words {
        Hw__Request request;
        Hw__SilenceRequest silence;
        Hw__UnsilenceRequest unsilence;
        Hw__SilencesRequest silences;
};

/* words[0] is the verb. Returns 0, or EXIT_USAGE with a message printed for command `c`. */
int silence_parse(const struct command *c, struct silence_words *s, char *const *words, int n_words, const char *why);

/* A table of silences, ended by why they are not kept, if so. */
void silence_print(const Hw__Silences *list);

#endif
