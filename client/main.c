/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - heapwatch: subcommands only. Each is one line of the table. */
#include "client/cli/command.h"

#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/nearest.h"

static const struct command *const commands[] = {
        &command_run,   &command_top, &command_pipe,   &command_alerts, &command_check,
        &command_rules, &command_ctl, &command_doctor, &command_replay, &command_summary,
        &command_trend, &command_web, &command_report, &command_events, &command_convert,
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *to)
{
        (void)fputs(
                "heapwatch watches the memory of GHC-compiled Haskell programs while they run.\n"
                "\n"
                "usage: heapwatch COMMAND [OPTION]...\n"
                "\n",
                to);
        for (size_t i = 0; i < COMMANDS; i++)
                (void)fprintf(to, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
        (void)fputs(
                "\n"
                "  heapwatch COMMAND --help   what it does, its options, examples\n"
                "  heapwatch --version\n"
                "\n"
                "Exit status: 0 all well, 1 a finding, 2 usage or bad input.\n"
                "\n"
                "Example: watch a growing eventlog\n"
                "  heapwatchd api-1=/var/tmp/api.eventlog &\n"
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
        if (meant)
                (void)fprintf(stderr, "heapwatch: unknown command '%s'; did you mean '%s'?\n", name, meant);
        else
                (void)fprintf(stderr, "heapwatch: unknown command '%s'\n", name);
        (void)fputs("heapwatch: see `heapwatch --help`\n", stderr);
        return EXIT_USAGE;
}

/* `heapwatch COMMAND --help` is the same everywhere; what follows "--" belongs to others. */
static bool wants_help(int argc, char **argv)
{
        for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
                if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
                        return true;
        }
        return false;
}

int main(int argc, char **argv)
{
        const struct command *c;

        (void)setlocale(LC_CTYPE, "");
        (void)signal(SIGPIPE, SIG_IGN);
        if (argc < 2) {
                print_help(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                print_help(stdout);
                return EXIT_OK;
        }
        if (!strcmp(argv[1], "--version")) {
                (void)printf("heapwatch %s\n", HEAPWATCH_VERSION);
                return EXIT_OK;
        }
        c = find(argv[1]);
        if (!c)
                return unknown(argv[1]);
        if (wants_help(argc - 1, argv + 1)) {
                (void)fputs(c->help, stdout);
                return EXIT_OK;
        }
        return c->run(argc - 1, argv + 1);
}
