/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prompt.h - queries one after another: typed in a terminal, with editing, history and completion, or from a pipe.
 *
 * A query goes to its ';'. A line that begins with a dot is a command of the prompt, not of SQL.
 */
#pragma once

#include <stdbool.h>

struct command;

#define PROMPT_QUIT (-1)

struct prompt {
        const struct command *reporter; /* in whose name mistakes are reported */
        void *ctx;
        /* Answers the first query of the text: the exit status, or -1: none is in it. What is behind it, or NULL. */
        int (*answer)(void *ctx, const char *sql, const char **ret_rest);
        int (*command)(void *ctx, const char *line); /* ".help"; likewise, or PROMPT_QUIT */
        const char *greeting;                        /* in a terminal, before the first line */
        /*
         * Words that can be completed, until a NULL, to free(); NULL: none. Of a query as far as it is typed; with a
         * qualifier, "b", those that follow it and a dot, with it.
         */
        char **(*read_words)(void *ctx, const char *sql, const char *qualifier);
        char **(*read_texts)(void *ctx); /* likewise in quotes; called once */
};

/*
 * Reads standard input to its end. In a terminal a mistake ends its line, and SIGINT the line or the query; a pipe
 * ends with its first mistake. The exit status; -1: there was no query.
 */
int prompt_run(const struct prompt *p);
