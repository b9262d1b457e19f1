/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prompt.h - queries one after another: typed in a terminal, with editing, history and completion, or from a pipe.
 *
 * A query goes to its ';'. A line that begins with a dot is a command of the prompt, not of SQL.
 */
#ifndef HW_CLIENT_COMMANDS_QUERY_PROMPT_H
#define HW_CLIENT_COMMANDS_QUERY_PROMPT_H

#include <stdbool.h>

struct command;

struct prompt {
        const struct command *reporter; /* in whose name mistakes are reported */
        void *ctx;
        int (*answer)(void *ctx, const char *sql);    /* the exit status; what is wrong it has reported */
        bool (*command)(void *ctx, const char *line); /* ".help"; false: that was the last one */
        const char *greeting;                         /* in a terminal, before the first line */
        const char *const *words;                     /* that can be completed, until a NULL; borrowed */
        char **(*read_texts)(
                void *ctx); /* that can be completed in quotes, likewise, to free(); NULL: none. At first use */
};

/*
 * Reads standard input to its end. In a terminal a mistake ends nothing, and SIGINT only the line or the query; a pipe
 * ends with its first mistake. The exit status; -1: there was no query.
 */
int prompt_run(const struct prompt *p);

#endif
