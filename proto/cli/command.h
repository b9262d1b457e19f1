/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.h - one command line, described once: a subcommand of heapwatch, or
 * heapwatchd. Parsing, `--help`, the man page's sections and completion are all
 * made from the description (options.h, help.c, complete.h).
 *
 * Exit status of every command: 0 all well, 1 a finding (something is wrong
 * with what was looked at), 2 usage or bad input. Messages go to stderr as
 * `heapwatch COMMAND: what; what to do`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_OK = 0, EXIT_FINDING = 1, EXIT_USAGE = 2 };

struct option;

/* A word and what it means: a verb, a column, a form that an argument may have. */
struct term {
        const char *name;
        const char *arguments; /* after it; NULL: none */
        const char *text;
};

/* Terms under a heading; ended by one without a name. */
struct help_section {
        const char *title;
        const struct term *terms;
};

struct command {
        const char *name;                    /* of a subcommand; NULL: the program itself */
        const char *program;                 /* NULL: "heapwatch" */
        const char *summary;                 /* one line for the list of commands */
        const char *const *usage;            /* what follows the name, a line each, ended by NULL */
        const char *about;                   /* paragraphs, separated by an empty line; NULL: only the summary */
        const struct option *options;        /* and operands; ended by OPTIONS_END; NULL: none */
        const struct help_section *sections; /* before the options; ended by one without terms; NULL: none */
        const char *notes;                   /* paragraphs after the options; NULL: none */
        const char *status;                  /* what follows "Exit status: " */
        const char *const *examples;         /* ended by NULL; NULL: none */
        const struct term *verbs;            /* what the first operand may be, for completion; NULL: anything */

        size_t size;          /* of what the options fill */
        const void *defaults; /* its first contents; NULL: zeros */
        int (*check)(
                void *filled); /* what one option alone cannot know: 0, or an exit status after a report; or NULL */
        int (*run)(void *filled);
        bool offline; /* of heapwatch: with files as operands it needs no network, picture, database or terminal */
        bool stops;   /* of heapwatch: a signal that ends it sets a mark, of which it dies once it has cleaned up */
};

/* Called with a command whose arguments are right, before it runs: 0, or an exit status after a report. NULL: none. */
extern int (*command_before_run)(const struct command *c);

/* "heapwatch NAME", or the program alone. Borrowed; good until the next call. */
const char *command_title(const struct command *c);

/* Prints `heapwatch NAME: message; see ... --help` to stderr; returns EXIT_USAGE. */
int command_usage_error(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports a first operand that is none of `c->verbs` and the nearest one, or all of them. NULL: none was given. Returns
 * EXIT_USAGE. */
int command_unknown_verb(const struct command *c, const char *given);

/* Reports the operands that `verb`, one of `c->verbs`, expects. Returns EXIT_USAGE. */
int command_verb_usage(const struct command *c, const char *verb);

/* Prints `heapwatch NAME: message` to stderr; returns EXIT_USAGE. */
int command_error(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parses, checks and runs; argv[0] is the command's own name. Returns the exit status. */
int command_main(const struct command *c, int argc, char **argv);

/*
 * To be called first: if one of the first three descriptors is closed at the start, no file or socket of ours may take
 * its place. Writing to a standard output that was closed fails.
 */
void command_standard_descriptors(void);

/*
 * From now on a reader that leaves and a file at its limit (ulimit -f) are write errors, not our end, and what we make
 * can be read by its owner, whatever the umask. Programs that we start get these signals and umask as they were.
 */
void command_set_up(void);
void command_restore(void);

/*
 * The exit status of a program that ends with `status`: what is still buffered for standard output is written first. A
 * program that could not write its output has failed, and says so unless it failed before; it is not a failure that the
 * reader of a pipe has left.
 */
int command_exit(const char *program, int status);

/* help.c: a command's description as text of 80 columns, and as mdoc for the man pages. */

/* All of it: what `--help` shows. */
void help_print(FILE *to, const struct command *c);

/* A word and its meaning, wrapped in its own column. */
void help_print_term(FILE *to, const char *word, size_t column, const char *text);

/* The same in mdoc: of a subcommand a subsection. */
void help_print_man(FILE *to, const struct command *c);
