/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.c - `heapwatch rules`: check, list and test rules.
 *
 * DESIGN: rules are the daemon's: it alone reads, judges and explains them. So
 * this command becomes the daemon, with the option that does what is asked. One
 * parser answers here and in production.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/feed/find_daemon.h"
#include "proto/base/nearest.h"

static const char help[] =
        "usage: heapwatch rules check FILE...\n"
        "       heapwatch rules list [--explain] [FILE...]\n"
        "       heapwatch rules test TESTFILE...\n"
        "\n"
        "  check   reads rule files and says what is wrong with them: file, line, column,\n"
        "          what was expected\n"
        "  list    the built-in rules and those of the files; --explain tells them in words\n"
        "  test    runs tests of rules on made-up series or on logs (heapwatch-rules(5))\n"
        "\n"
        "Exit status: 0 all well, 1 a test failed, 2 a file is wrong or bad usage.\n"
        "\n"
        "Examples:\n"
        "  heapwatch rules list --explain\n"
        "  heapwatch rules check /etc/heapwatch/rules.yaml\n";

static int run(int argc, char **argv);

const struct command command_rules = {
        .name = "rules",
        .summary = "check, list, explain and test rules for alerts",
        .help = help,
        .run = run,
};

/* Becomes heapwatchd OPTION FILE... */
static int become(const char *option, int n, char **files)
{
        char path[PATH_MAX];
        char **argv = calloc((size_t)n + 4, sizeof(*argv));

        if (!argv) {
                command_error(&command_rules, "out of memory");
                return EXIT_USAGE;
        }
        find_daemon(path, sizeof(path));
        argv[0] = (char *)"heapwatchd";
        argv[1] = (char *)option;
        argv[2] = (char *)"--";
        memcpy(argv + 3, files, (size_t)n * sizeof(*argv));
        (void)fflush(stdout);
        (void)execvp(path, argv);
        command_error(&command_rules, "heapwatchd cannot be started: %s; it belongs beside heapwatch or in PATH",
                      strerror(errno));
        free(argv);
        return EXIT_USAGE;
}

static int list(int n, char **words)
{
        int explain = 0;

        for (int i = 0; i < n; i++) {
                if (!strcmp(words[i], "--explain"))
                        explain = 1;
                else if (words[i][0] == '-')
                        return command_usage_error(&command_rules, "unknown option '%s'; expected --explain", words[i]);
        }
        for (int i = 0, kept = 0; i < n; i++)
                if (words[i][0] != '-')
                        words[kept++] = words[i];
        return become(explain ? "--explain-rules" : "--list-rules", n - explain, words);
}

static int needs_files(const char *option, int n, char **files)
{
        if (n == 0)
                return command_usage_error(&command_rules, "which file? expected FILE...");
        if (files[0][0] == '-')
                return command_usage_error(&command_rules, "unknown option '%s'", files[0]);
        return become(option, n, files);
}

static int run(int argc, char **argv)
{
        static const char *const verbs[] = { "check", "list", "test" };
        const char *meant;

        if (argc < 2)
                return command_usage_error(&command_rules, "what? expected check, list or test");
        if (!strcmp(argv[1], "check"))
                return needs_files("--check-rules", argc - 2, argv + 2);
        if (!strcmp(argv[1], "test"))
                return needs_files("--test-rules", argc - 2, argv + 2);
        if (!strcmp(argv[1], "list"))
                return list(argc - 2, argv + 2);
        meant = nearest(argv[1], verbs, 3);
        if (meant)
                return command_usage_error(&command_rules, "unknown verb '%s'; did you mean '%s'?", argv[1], meant);
        return command_usage_error(&command_rules, "unknown verb '%s'; expected check, list or test", argv[1]);
}
