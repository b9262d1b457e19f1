/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch diff`: whether runs are worse than others, and in what.
 *
 * DESIGN: logs are read one after the other, each run reduced to its numbers (side.h), so memory grows with their
 * number and not with their length. Then both sides are compared, the bounds are judged, and everything is
 * printed.
 */
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/read.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/past/diff/print.h"
#include "proto/base/error.h"

struct request {
        struct text_list logs, bounds;
        size_t against; /* logs from this one on are of the baseline; 0: not given */
        const char *range, *a_range, *b_range, *db;
        bool json;
        size_t rows;
        bool strict;
        struct part a_part, b_part;
        struct result result;
};

/* -------------------------------------------------------------------- options */

static int parse_against(const struct command *c, const struct option *o, void *filled, char *value)
{
        struct request *r = filled;

        if (r->against)
                return option_error(c, o, "may be given once; all logs after it are of the baseline");
        if (!r->logs.n)
                return option_error(c, o, "expected the new logs before it, those of the baseline after it");
        r->against = r->logs.n;
        return 0;
}

static const struct option options[] = {
        OPERAND_LIST("LOG...", 1, struct request, logs, COMPLETE_FILE, NULL),
        OPTION_CALLBACK(
                "against", 0, NULL, parse_against, COMPLETE_NOTHING,
                "the logs before it are new, those after it are the baseline; without it, of two logs the first is "
                "the baseline, as with diff(1)"),
        OPTION_TEXT(
                "range", 'r', "FROM..TO", struct request, range, COMPLETE_NOTHING,
                "only this part of each run: a time (90s), a share of the run (25%), note:TEXT (the first note with "
                "TEXT), or nothing (start, end)"),
        OPTION_TEXT("a-range", 0, "FROM..TO", struct request, a_range, COMPLETE_NOTHING, "the same for the new runs"),
        OPTION_TEXT("b-range", 0, "FROM..TO", struct request, b_range, COMPLETE_NOTHING, "the same for the baseline's"),
        OPTION_LIST("no-worse-than", 'n', "BOUNDS", struct request, bounds, COMPLETE_NOTHING,
                    "by how much quantities may exceed the baseline's: \"peak(live) 5%, p99(gc_pause) 10%, allocated "
                    "20MiB\"; may be repeated"),
        OPTION_FLAG("strict", 0, struct request, strict, "a bound that cannot be decided is a finding, too"),
        OPTION_JSON(struct request, json, "for people (default), or all numbers as one object"),
        OPTION_TEXT("db", 0, "FILE", struct request, db, COMPLETE_FILE,
                    "the archive with the runs that are named TARGET@WHEN; default: that of `heapwatch archive`"),
        OPTION_NUMBER("rows", 0, size_t, struct request, rows, 0, 100000,
                      "bands, ticky counters, cost centres shown, those that changed most (default 10)"),
        OPTIONS_END,
};

static int parse_part(struct part *s, const char *own, const char *both)
{
        struct error error;
        const char *text = own ? own : both;

        if (!text || part_parse(s, text, &error))
                return 0;
        return command_usage_error(&command_diff, "%s", error.text);
}

static int check_logs(struct request *r)
{
        bool ranges = r->a_range || r->b_range;

        if (r->against && r->against == r->logs.n)
                return command_usage_error(&command_diff, "--against: expected the baseline's logs after it");
        if (!r->against && r->logs.n > 2)
                return command_usage_error(&command_diff,
                                           "which of %zu logs are the baseline? put --against before them", r->logs.n);
        if (!r->against && r->logs.n == 1 && !ranges)
                return command_usage_error(&command_diff,
                                           "one log: compared with what? add another, or --a-range and --b-range");
        return 0;
}

static void release_request(struct request *r)
{
        bounds_done(&r->result.bounds);
        part_done(&r->a_part);
        part_done(&r->b_part);
}

static int check_request(void *filled)
{
        struct request *r = filled;
        struct error error;
        int status = check_logs(r);

        if (status == 0)
                status = parse_part(&r->a_part, r->a_range, r->range);
        if (status == 0)
                status = parse_part(&r->b_part, r->b_range, r->range);
        for (size_t i = 0; i < r->bounds.n && status == 0; i++)
                if (!bounds_parse(&r->result.bounds, r->bounds.items[i], &error))
                        status = command_usage_error(&command_diff, "--no-worse-than: %s", error.text);
        r->result.shown = r->rows;
        if (status)
                release_request(r);
        return status;
}

/* -------------------------------------------------------------------- reading */

static bool read_side(const struct request *r, struct side *s, const char *const *logs, size_t n,
                      const struct part *part)
{
        for (size_t i = 0; i < n; i++) {
                const bool archived = select_is(logs[i]);

                if (archived && part->text) {
                        command_error(&command_diff,
                                      "%s: a part of an archived run is selected by its time, not by a range", logs[i]);
                        return false;
                }
                if (!(archived ? side_read_archive(s, &command_diff, r->db, logs[i])
                               : side_read(s, &command_diff, logs[i], part)))
                        return false;
        }
        return true;
}

/* -------------------------------------------------------------------- results */

static int show_comparison(struct request *r)
{
        const struct result *result = &r->result;

        (r->json ? print_json : print_text)(stdout, result);
        if (result_count(result, BOUND_BROKEN) || (r->strict && result_count(result, BOUND_UNDECIDED)))
                return EXIT_FINDING;
        return EXIT_OK;
}

static int diff_sides(struct request *r)
{
        const char *const *logs = r->logs.items;
        const size_t n_a = r->against ? r->against : 1, n_b = r->against ? r->logs.n - r->against : 1;
        struct side a = { .n = 0 }, b = { .n = 0 };
        int status = EXIT_USAGE;

        if (read_side(r, &b, logs + r->against, n_b, &r->b_part) &&
            read_side(r, &a, r->against ? logs : logs + r->logs.n - 1, n_a, &r->a_part))
                status = compare_sides(&a, &b, &r->result.comparison) == 0
                                 ? show_comparison(r)
                                 : command_error(&command_diff, "out of memory");
        comparison_done(&r->result.comparison);
        side_done(&a);
        side_done(&b);
        return status;
}

static int run_diff(void *filled)
{
        struct request *r = filled;
        const int status = diff_sides(r);

        release_request(r);
        return status;
}

static const struct term terms[] = {
        { "duration", NULL, "of the run, or of the part" },
        { "peak(S), mean(S)", NULL, "S: live, heap, census_total; rss for runs in an archive; the mean is over time" },
        { "slope(live), time_to_limit", NULL,
          "as in the verdict, bytes per second; until the limit is reached; whole runs only" },
        { "allocated, allocation_rate", NULL, "bytes; bytes per second" },
        { "collections, copied", NULL, "how many, of all generations; bytes" },
        { "gc_time, gc_share", NULL, "sum of all pauses; as a share of the duration" },
        { "p50(gc_pause), p99(gc_pause), max(gc_pause)", NULL, "of all generations; within 0.2 %" },
        { "mean(band:NAME), peak(band:NAME)", NULL,
          "a band of the heap profile, with the name that the output gives it" },
        { NULL, NULL, NULL },
};

static const struct term moments[] = {
        { "now", NULL, "the newest run, the last day of it" },
        { "yesterday, last-week, last-month, -3h", NULL, "the day that ended so long ago, of each run that was in it" },
        { "2026-11-03, 2026-11-03..2026-11-05", NULL, "these days (UTC)" },
        { "run:0, run:-1, run:17", NULL, "the newest run, the one before it, the one with this number in the archive" },
        { "label:NAME=VALUE, all", NULL, "all runs with that label; all runs" },
        { NULL, NULL, NULL },
};

static const struct help_section sections[] = {
        { "Quantities", terms },
        { "Runs of an archive, as TARGET@WHEN", moments },
        { NULL, NULL },
};

const struct command command_diff = {
        .name = "diff",
        .summary = "two runs, or several against several, compared with intervals",
        .usage = TEXTS("[OPTION]... BASELINE NEW", "[OPTION]... NEW... --against BASELINE...",
                       "[OPTION]... LOG --a-range FROM..TO --b-range FROM..TO",
                       "[OPTION]... TARGET@WHEN --against TARGET@WHEN..."),
        .about = "Says by how much runs of a program differ in memory and collections from those of a baseline, with a "
                 "95 % interval for each difference, and whether it exceeds what is allowed.\n\n"
                 "With several runs of each side the numbers are medians, the change is that of Hodges and Lehmann, "
                 "and its interval that of the rank-sum test (from 4 against 4 on) or Student's (fewer). With one run "
                 "of each the interval is from the noise within the runs, as far as it can be estimated there, and "
                 "does not include differences from run to run. Bands are matched by label, module and source "
                 "location, since addresses differ between builds.",
        .options = options,
        .sections = sections,
        .notes = "A bound is broken when all of the interval is beyond it, kept when all of it is within, and "
                 "otherwise undecided: then more runs would help. 19 times in 20, a change of 5 % is found beyond a "
                 "bound of 2 % with 5 runs per side that vary by 0.75 % (standard deviation), 10 that vary by 1.25 % "
                 "or 20 by 2 %; a change that is not there is found less than once in 20.",
        .status = "0 no bound is broken, 1 one is (with --strict also when one is undecided), 2 bad input.",
        .examples = TEXTS("heapwatch diff old.eventlog new.eventlog",
                          "heapwatch diff new-*.eventlog --against old-*.eventlog -n 'peak(live) 5%, allocated 1%'",
                          "heapwatch diff api@now --against api@last-week",
                          "heapwatch diff run.eventlog --b-range ..note:warm --a-range note:warm.."),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .rows = 10 },
        .check = check_request,
        .run = run_diff,
        .stops = true,
        .offline = true,
};
