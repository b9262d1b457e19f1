/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - heapwatch: only subcommands, each a line of the table. */
#include "client/cli/command.h"

#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/completion/completion.h"
#include "client/hosts/endpoints.h"
#include "proto/base/array.h"
#include "proto/base/nearest.h"
#include "proto/cli/help.h"
#include "proto/cli/options.h"

static const struct command command_help, command_version;

static const struct command *const commands[] = {
        &command_run,    &command_attach,  &command_detach,      &command_ps,      &command_top,
        &command_pipe,   &command_alerts,  &command_check,       &command_rules,   &command_ctl,
        &command_doctor, &command_replay,  &command_summary,     &command_trend,   &command_diff,
        &command_web,    &command_report,  &command_events,      &command_convert, &command_plot,
        &command_notify, &command_export,  &command_archive,     &command_history, &command_recordings,
        &command_dump,   &command_bundle,  &command_post_mortem, &command_keys,    &command_completion,
        &command_help,   &command_version,
};

enum { COMMANDS = ARRAY_SIZE(commands) };

static void print_help(FILE *to)
{
        (void)fputs(
                "heapwatch watches the memory of GHC-compiled Haskell programs while they run.\n"
                "\n"
                "usage: heapwatch COMMAND [OPTION]...\n"
                "\n",
                to);
        for (size_t i = 0; i < COMMANDS; i++)
                help_print_term(to, commands[i]->name, 14, commands[i]->summary);
        (void)fputs(
                "\n"
                "  heapwatch COMMAND --help   what it does, its options, examples\n"
                "\n"
                "Exit status: 0 all well, 1 a finding, 2 usage or bad input.\n"
                "\n"
                "Examples:\n"
                "  heapwatch run -- ./my-server      start a program and watch it\n"
                "  heapwatchd api-1=/var/tmp/api.eventlog &   watch a growing eventlog\n"
                "  heapwatch top\n",
                to);
}

static const struct command *find(const char *name)
{
        for (size_t i = 0; i < COMMANDS; i++) {
                if (!strcmp(commands[i]->name, name))
                        return commands[i];
        }
        return NULL;
}

static int unknown(const char *name)
{
        const char *names[COMMANDS];
        const char *meant;

        for (size_t i = 0; i < COMMANDS; i++)
                names[i] = commands[i]->name;
        meant = nearest(name, names, COMMANDS);
        (void)fprintf(stderr, "heapwatch: unknown command '%s'%s%s%s; see `heapwatch --help`\n", name,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        return EXIT_USAGE;
}

/* ------------------------------------------------------- help and version */

struct about {
        const char *command; /* NULL: all of them */
};

static const char *nth_command(size_t n)
{
        return n < COMMANDS ? commands[n]->name : NULL;
}

static int run_help(void *filled)
{
        const struct about *about = filled;
        const struct command *c = about->command ? find(about->command) : NULL;

        if (about->command && !c)
                return unknown(about->command);
        if (c)
                help_print(stdout, c);
        else
                print_help(stdout);
        return EXIT_OK;
}

static int run_version(void *filled)
{
        (void)filled;
        (void)printf("heapwatch %s\n", HEAPWATCH_VERSION);
        return EXIT_OK;
}

static const struct command command_help = {
        .name = "help",
        .summary = "what a command does, its options, examples",
        .usage = (const char *const[]){ "[COMMAND]", NULL },
        .options =
                (const struct option[]){
                        { .argument = "COMMAND",
                          .type = OPTION_IS_TEXT,
                          .most = 1,
                          .nth_word = nth_command,
                          OPTION_AT(const char *, struct about, command) },
                        OPTIONS_END,
                },
        .examples = (const char *const[]){ "heapwatch help top", NULL },
        .size = sizeof(struct about),
        .run = run_help,
};

static const struct command command_version = {
        .name = "version",
        .summary = "the version of this program",
        .usage = (const char *const[]){ "", NULL },
        .examples = (const char *const[]){ "heapwatch version", NULL },
        .run = run_version,
};

/* ------------------------------------------------------------------- main */

/* `--complete WORD...`, for shells; the first word is the command's name, or its beginning. */
static int complete(int n, char **words)
{
        const struct command *c = n > 1 ? find(words[0]) : NULL;
        struct complete_place first = { .word = n > 0 ? words[0] : "", .prefix = "", .to = stdout };

        if (c) {
                complete_words(stdout, c, n - 1, words + 1, completion_values);
        } else if (n <= 1) {
                for (size_t i = 0; i < COMMANDS; i++)
                        complete_offer(&first, commands[i]->name, commands[i]->summary);
                complete_offer(&first, "--help", NULL);
                complete_offer(&first, "--version", NULL);
        }
        return EXIT_OK;
}

/* `--man`: the part of heapwatch(1) about commands. */
static int print_man(void)
{
        for (size_t i = 0; i < COMMANDS; i++)
                help_print_man(stdout, commands[i]);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        const struct command *c;

        if (argc < 2) {
                print_help(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
                return run_help(&(struct about){ NULL });
        if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
                return run_version(NULL);
        if (!strcmp(argv[1], "--complete"))
                return complete(argc - 2, argv + 2);
        if (!strcmp(argv[1], "--man"))
                return print_man();
        c = find(argv[1]);
        return c ? command_main(c, argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
        command_standard_descriptors();
        (void)setlocale(LC_CTYPE, "");
        command_ignore_pipe();
        option_endpoints = &endpoints_by_name;
        return command_exit("heapwatch", run(argc, argv));
}
