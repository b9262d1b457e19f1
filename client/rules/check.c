/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - `heapwatch check`: rules as an exit status, for CI and for last night's log.
 *
 * DESIGN: heapwatchd --once judges the logs and sends the same alert messages as
 * live; here they are only gathered, printed and counted.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/rules/findings.h"
#include "client/rules/junit.h"
#include "heapwatch/text.h"

static const char help[] =
        "usage: heapwatch check [OPTION]... LOG...\n"
        "\n"
        "Judges finished eventlogs by the built-in rules and by yours, prints what fired\n"
        "with the evidence, and tells it by its exit status.\n"
        "\n"
        "  --rules FILE          rules of your own; may be repeated (heapwatch-rules(5))\n"
        "  --fail-on SEVERITY    what counts: info, warning (default) or critical\n"
        "  --junit FILE          write the result as JUnit XML, too\n"
        "  --resolution TIME     step in which growth is judged; default: from the log's length\n"
        "  --leak-after TIME     growth of this length that does not slow down is a leak\n"
        "  --limit BYTES         memory that the program may use, such as 2GiB\n"
        "\n"
        "Exit status: 0 nothing that counts fired, 1 something did, 2 bad input or usage.\n"
        "\n"
        "Example: heapwatch check --rules ci.yaml --junit heap.xml build/*.eventlog\n";

static int run(int argc, char **argv);

const struct command command_check = {
        .name = "check",
        .summary = "judge finished logs by rules: an exit status for CI",
        .help = help,
        .run = run,
};

struct check {
        struct text_list daemon_args; /* passed on */
        struct text_list files;
        enum severity least;
        const char *junit;
        struct findings findings;
};

/* ----------------------------------------------------------------- printing */

static void print_line(const char *before, const char *text)
{
        char safe[4096];

        hw_terminal_text(safe, sizeof(safe), text);
        (void)printf("%s%s\n", before, safe);
}

static void print_finding(const struct finding *item)
{
        char safe[1024], when[FINDING_TIMES_MAX];

        (void)printf("  %s: %s", severity_name(item->severity), item->rule);
        if (item->band) {
                hw_terminal_text(safe, sizeof(safe), item->band);
                (void)printf(" of %s", safe);
        }
        if (item->band_source) {
                hw_terminal_text(safe, sizeof(safe), item->band_source);
                (void)printf(" (%s)", safe);
        }
        (void)printf("%s\n", finding_times(item, when));
        print_line("      ", item->sentence);
        for (size_t i = 0; i < item->n_evidence; i++)
                print_line("      ", item->evidence[i]);
}

static void print_all(const struct check *c)
{
        for (size_t t = 0; t < c->files.n; t++) {
                size_t n = t < c->findings.n_targets ? findings_count(&c->findings, t, SEVERITY_INFO) : 0;
                (void)printf("%s: ", c->files.items[t]);
                if (n == 0)
                        (void)printf("nothing fired\n");
                else
                        (void)printf("%zu alert%s\n", n, n == 1 ? "" : "s");
                for (size_t i = 0; i < c->findings.n; i++)
                        if (c->findings.items[i].target == t)
                                print_finding(&c->findings.items[i]);
        }
}

/* ------------------------------------------------------------------ reading */

/* Nothing is judged: what CI shows must not be the result of the run before. */
static int fail(const struct check *c, const char *why)
{
        int r = c->junit ? junit_write_error(c->junit, why) : 0;

        command_error(&command_check, "%s", why);
        if (r < 0)
                command_error(&command_check, "%s: %s", c->junit, strerror(-r));
        return EXIT_USAGE;
}

static int read_all(struct check *c)
{
        char error[256];
        const Hw__Update *update;
        struct feed *feed = feed_files(c->files.items, c->files.n, c->daemon_args.items, error, sizeof(error));
        enum feed_event event;

        if (!feed)
                return fail(c, error);
        do {
                event = feed_next(feed, -1, &update);
                if (event == FEED_UPDATE)
                        findings_take(&c->findings, update);
        } while (event != FEED_END && event != FEED_FAILED);
        if (event == FEED_FAILED)
                snprintf(error, sizeof(error), "%s", feed_error(feed));
        feed_close(&feed);
        if (event == FEED_FAILED)
                return fail(c, error);
        return c->findings.no_memory ? fail(c, "out of memory, or more than 10,000 alerts") : EXIT_OK;
}

static int judge(struct check *c)
{
        int status = read_all(c), r;

        if (status != EXIT_OK)
                return status;
        print_all(c);
        if (c->junit) {
                r = junit_write(c->junit, &c->findings, c->files.items, c->files.n, c->least);
                if (r < 0) {
                        command_error(&command_check, "%s: %s", c->junit, strerror(-r));
                        return EXIT_USAGE;
                }
        }
        for (size_t t = 0; t < c->findings.n_targets; t++)
                if (findings_count(&c->findings, t, c->least) > 0)
                        status = EXIT_FINDING;
        return status;
}

/* ------------------------------------------------------------------ options */

static int parse_option(struct check *c, int o)
{
        switch (o) {
        case 'r':
                return options_pass_on(&command_check, &c->daemon_args, "--rules", optarg);
        case 'R':
        case 'L':
        case 'M':
                return options_of_trend(&command_check, &c->daemon_args, o, optarg);
        case 'j':
                c->junit = optarg;
                return 0;
        case 'f':
                return severity_option(&command_check, optarg, &c->least);
        default:
                return command_usage_error(&command_check, "unknown option or missing value");
        }
}

static int parse(struct check *c, int argc, char **argv)
{
        static const struct option options[] = {
                { "rules", required_argument, NULL, 'r' },
                { "fail-on", required_argument, NULL, 'f' },
                { "junit", required_argument, NULL, 'j' },
                OPTIONS_OF_TREND,
                { NULL, 0, NULL, 0 },
        };
        int o, bad = 0;

        optind = 1;
        while (!bad && (o = getopt_long(argc, argv, "", options, NULL)) != -1)
                bad = parse_option(c, o);
        for (int i = optind; !bad && i < argc; i++)
                bad = options_add(&command_check, &c->files, argv[i]);
        if (!bad && c->files.n == 0)
                bad = command_usage_error(&command_check, "which log? expected LOG...");
        return bad;
}

static int run(int argc, char **argv)
{
        struct check *c = calloc(1, sizeof(*c));
        int status;

        if (!c) {
                command_error(&command_check, "out of memory");
                return EXIT_USAGE;
        }
        c->least = SEVERITY_WARNING;
        status = parse(c, argc, argv) ? EXIT_USAGE : judge(c);
        findings_done(&c->findings);
        free(c);
        return status;
}
