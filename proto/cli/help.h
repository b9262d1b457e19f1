/* SPDX-License-Identifier: BSD-3-Clause */
/* help.h - a command's description as text of 80 columns, and as mdoc for the man pages. */
#ifndef HW_PROTO_CLI_HELP_H
#define HW_PROTO_CLI_HELP_H

#include <stdio.h>

#include "proto/cli/command.h"

/* All of it: what `--help` shows. */
void help_print(FILE *to, const struct command *c);

/* A word and its meaning, wrapped in its own column. */
void help_print_term(FILE *to, const char *word, size_t column, const char *text);

/* Words wrapped to 80 columns, each line indented by `indent` blanks; the first one begins at column `at`. */
void help_wrap(FILE *to, const char *text, size_t indent, size_t at);

/* The same in mdoc: of a subcommand a subsection. */
void help_print_man(FILE *to, const struct command *c);

#endif
