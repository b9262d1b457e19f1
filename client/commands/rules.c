/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.c - `heapwatch rules`: check and list rules.
 *
 * DESIGN: only the daemon reads, judges and explains rules. So this command
 * becomes the daemon, with the option that does it: the parser is the same here
 * and in production.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "proto/base/sibling.h"

/* Executes heapwatchd OPTION FILE... */
static int become(const char *option, size_t n, const char *const *files)
{
        char path[PATH_MAX];
        char **argv = calloc(n + 4, sizeof(*argv));

        if (!argv)
                return command_error(&command_rules, "out of memory");
        sibling_program("heapwatchd", path, sizeof(path));
        argv[0] = (char *)"heapwatchd";
        argv[1] = (char *)option;
        argv[2] = (char *)"--";
        memcpy(argv + 3, files, n * sizeof(*argv));
        (void)fflush(stdout);
        (void)execvp(path, argv);
        command_error(&command_rules, "heapwatchd cannot be started: %s; it should be beside heapwatch or in PATH",
                      strerror(errno));
        free(argv);
        return EXIT_USAGE;
}

struct request {
        struct text_list words; /* the verb, then files */
        bool explain;
};

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "VERB", struct text_list, 0, 0, struct request, words, COMPLETE_FILE, NULL),
        OPTION_FLAG("explain", 0, struct request, explain, "list: in words"),
        OPTIONS_END,
};

static const struct term verbs[] = {
        { "check", "FILE...",
          "reads rule files and says what is wrong with them: file, line, column, what was expected" },
        { "list", "[FILE...]", "the built-in rules and those of the files; --explain says in words what each means" },
        { NULL, NULL, NULL },
};

static int run(void *filled)
{
        const struct request *r = filled;
        const char *const *files = r->words.items + 1;
        const char *verb = r->words.n ? r->words.items[0] : "";
        bool list = !strcmp(verb, "list"), check = !strcmp(verb, "check");

        if (r->explain && r->words.n && !list)
                return command_usage_error(&command_rules, "--explain only goes with list");
        if (list)
                return become(r->explain ? "--explain-rules" : "--list-rules", r->words.n - 1, files);
        if (check && r->words.n == 1)
                return command_usage_error(&command_rules, "which file? expected FILE...");
        if (check)
                return become("--check-rules", r->words.n - 1, files);
        return command_unknown_verb(&command_rules, verb);
}

const struct command command_rules = {
        .name = "rules",
        .summary = "check, list and explain rules for alerts",
        .usage = TEXTS("check FILE...", "list [--explain] [FILE...]"),
        .about = "Checks and lists rules for alerts, with the daemon's own parser. `heapwatch check --rules FILE LOG` "
                 "judges a finished log by them.",
        .sections = (const struct help_section[]){ { "Verbs", verbs }, { NULL, NULL } },
        .options = options,
        .verbs = verbs,
        .status = "0 all well, 2 a file has mistakes, or usage.",
        .examples = TEXTS("heapwatch rules list --explain", "heapwatch rules check /etc/heapwatch/rules.yaml"),
        .size = sizeof(struct request),
        .run = run,
};
