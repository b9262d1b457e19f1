/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - `heapwatch check`: rules as an exit status, for CI and for last night's log.
 *
 * DESIGN: the logs are judged as a live run is, with the same alert messages; here they are only collected, printed
 * and counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/feed/feed.h"
#include "client/cli/options.h"
#include "client/rules/findings.h"
#include "client/rules/junit.h"
#include "heapwatch/text.h"
#include "proto/base/error.h"

struct check {
        struct judging judging;
        struct text_list files;
        int least; /* enum severity */
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

/* "run.eventlog: 3 alerts, with 4 parts": as every face counts them. */
static void print_count(const struct findings *f, const char *file, size_t target)
{
        const size_t all = findings_count(f, target, SEVERITY_INFO), parts = findings_parts(f, target), n = all - parts;

        if (all == 0)
                (void)printf("%s: nothing fired\n", file);
        else if (parts == 0)
                (void)printf("%s: %zu alert%s\n", file, n, n == 1 ? "" : "s");
        else
                (void)printf("%s: %zu alert%s, with %zu part%s\n", file, n, n == 1 ? "" : "s", parts,
                             parts == 1 ? "" : "s");
}

static void print_all(const struct check *c)
{
        for (size_t t = 0; t < c->files.n; t++) {
                print_count(&c->findings, c->files.items[t], t);
                for (size_t i = 0; i < c->findings.n; i++)
                        if (c->findings.items[i].target == t)
                                print_finding(&c->findings.items[i]);
        }
}

/* ------------------------------------------------------------------ reading */

/* Nothing was judged: CI must not show the result of the previous run. */
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
        struct error error;
        const Hw__Update *update;
        struct feed *feed = feed_files(c->files.items, c->files.n, &c->judging, &error);
        enum feed_event event;

        if (!feed)
                return fail(c, error.text);
        do {
                event = feed_next(feed, -1, &update);
                if (event == FEED_UPDATE)
                        findings_take(&c->findings, update);
        } while (event != FEED_END && event != FEED_FAILED);
        if (event == FEED_FAILED)
                error_set(&error, "%s", feed_error(feed));
        feed_close(&feed);
        findings_add_damage(&c->findings);
        if (event == FEED_FAILED)
                return fail(c, error.text);
        return c->findings.refused ? fail(c, c->findings.refused) : EXIT_OK;
}

static int judge(struct check *c)
{
        int status = read_all(c), r;

        if (status != EXIT_OK)
                return status;
        print_all(c);
        if (c->junit) {
                r = junit_write(c->junit, &c->findings, c->files.items, c->files.n, (enum severity)c->least);
                if (r < 0) {
                        command_error(&command_check, "%s: %s", c->junit, strerror(-r));
                        return EXIT_USAGE;
                }
        }
        for (size_t t = 0; t < c->findings.n_targets; t++)
                if (findings_count(&c->findings, t, (enum severity)c->least) > 0)
                        status = EXIT_FINDING;
        return status;
}

/* ------------------------------------------------------------------ options */

static const struct option options[] = {
        OPERAND_LIST("LOG...", 1, struct check, files, COMPLETE_FILE, NULL),
        OPTION_RULES(struct check, judging),
        OPTION_CHOICE("fail-on", 0, "SEVERITY", int, struct check, least, severity_names,
                      "what counts: info, warning (default) or critical"),
        OPTION_TEXT("junit", 0, "FILE", struct check, junit, COMPLETE_FILE,
                    "write the result as JUnit XML, too: a suite for each log and in it a case for each rule that "
                    "fired; after "
                    "bad input an error"),
        OPTIONS_OF_TREND(struct check, judging),
        OPTIONS_END,
};

static int run(void *filled)
{
        struct check *c = filled;
        int status = judge(c);

        findings_done(&c->findings);
        return status;
}

const struct command command_check = {
        .name = "check",
        .summary = "judge finished logs by rules: an exit status for CI",
        .usage = (const char *const[]){ "[OPTION]... LOG...", NULL },
        .about = "Judges finished eventlogs by the built-in rules and by yours, prints what fired with the evidence; "
                 "the exit status is for CI.",
        .options = options,
        .status =
                "0 nothing that counts fired, 1 something did, or a log is damaged or not all of it could be read, 2 "
                "bad input or usage.",
        .examples =
                (const char *const[]){
                        "heapwatch check --rules ci.yaml --junit heap.xml build/*.eventlog",
                        NULL,
                },
        .size = sizeof(struct check),
        .defaults = &(const struct check){ .least = SEVERITY_WARNING },
        .run = run,
};
