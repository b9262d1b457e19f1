/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - `heapwatch check`: rules as an exit status, for CI and for last night's log.
 *
 * DESIGN: the logs are judged as a live run is, with the same alert messages; here they are only collected, printed
 * and counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/world/feed/feed.h"
#include "client/commands/check_findings.h"
#include "proto/base/error.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

/* ------------------------------------------------------------------- JUnit */

/*
 * Findings as JUnit's XML, which CI systems show: a suite for each log, in it a case for each rule that fired, failed
 * if its severity counts.
 *
 * DESIGN: CI systems follow a case from build to build by suite, class and name, and merge cases that share them. So a
 * case is a rule in a log, however often it fired; all its alerts are in the text. A log in which nothing fired has one
 * case that says so. Rules below the severity that counts are passed cases, with their alerts as output.
 */

#define TEXT_MAX 4096u

struct counts {
        size_t tests, failures;
};

struct writer {
        FILE *out;
        const struct findings *findings;
        enum severity least;
};

/* --------------------------------------------------------------------- XML */

/* Text is made printable first: XML 1.0 has no way to write control characters. */
static void xml_text(FILE *out, const char *text)
{
        for (const char *p = SAFE_TEXT(TEXT_MAX, text); *p; p++) {
                const char *entity = xml_entity(*p, true);
                (void)(entity ? fputs(entity, out) : fputc(*p, out));
        }
}

static void xml_attribute(FILE *out, const char *name, const char *text)
{
        (void)fprintf(out, " %s=\"", name);
        xml_text(out, text);
        (void)fputc('"', out);
}

/* -------------------------------------------------------------------- cases */

static bool same_rule(const struct finding *a, const struct finding *b)
{
        return a->target == b->target && !strcmp(a->rule, b->rule) && !strcmp(a->group, b->group);
}

static bool is_first_of_its_rule(const struct findings *f, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (same_rule(&f->items[k], &f->items[i]))
                        return false;
        return true;
}

static size_t times_fired(const struct findings *f, size_t first)
{
        size_t n = 0;

        for (size_t k = first; k < f->n; k++)
                n += same_rule(&f->items[k], &f->items[first]);
        return n;
}

static struct counts count_findings(const struct writer *w, size_t target)
{
        struct counts c = { 0, 0 };

        for (size_t i = 0; i < w->findings->n; i++) {
                if (w->findings->items[i].target != target || !is_first_of_its_rule(w->findings, i))
                        continue;
                c.tests++;
                c.failures += w->findings->items[i].severity >= w->least;
        }
        c.tests += c.tests == 0; /* "nothing fired" */
        return c;
}

static void put_alert(FILE *out, const struct finding *item)
{
        char when[FINDING_TIMES_MAX];

        xml_text(out, item->rule);
        if (item->band) {
                (void)fputs(" of ", out);
                xml_text(out, item->band);
        }
        if (item->band_source) {
                (void)fputs(" (", out);
                xml_text(out, item->band_source);
                (void)fputc(')', out);
        }
        xml_text(out, finding_times(item, when));
        (void)fputs(": ", out);
        xml_text(out, item->sentence);
        for (size_t i = 0; i < item->n_evidence; i++) {
                (void)fputs("\n    ", out);
                xml_text(out, item->evidence[i]);
        }
        (void)fputc('\n', out);
}

/* The case of a rule, which fired first as finding number `first`. */
static void put_rule(const struct writer *w, size_t first, const char *file)
{
        const struct finding *item = &w->findings->items[first];
        const char *element = item->severity >= w->least ? "failure" : "system-out";
        const size_t n = times_fired(w->findings, first);
        char name[256], message[TEXT_MAX], more[48] = "";

        (void)snprintf(name, sizeof(name), "%s (%s)", item->rule, item->group);
        (void)fputs("    <testcase", w->out);
        xml_attribute(w->out, "classname", file);
        xml_attribute(w->out, "name", name);
        (void)fprintf(w->out, ">\n      <%s", element);
        if (item->severity >= w->least) {
                xml_attribute(w->out, "type", severity_name(item->severity));
                if (n > 1)
                        (void)snprintf(more, sizeof(more), " (and %zu more)", n - 1);
                (void)snprintf(message, sizeof(message), "%.*s%s", (int)(sizeof(message) - sizeof(more) - 1),
                               item->sentence, more);
                xml_attribute(w->out, "message", message);
        }
        (void)fputs(">", w->out);
        for (size_t k = first; k < w->findings->n; k++)
                if (same_rule(&w->findings->items[k], item))
                        put_alert(w->out, &w->findings->items[k]);
        (void)fprintf(w->out, "</%s>\n    </testcase>\n", element);
}

/* ------------------------------------------------------------------- suites */

static void put_log(const struct writer *w, size_t target, const char *file)
{
        struct counts c = count_findings(w, target);
        bool quiet = true;

        (void)fputs("  <testsuite", w->out);
        xml_attribute(w->out, "name", file);
        (void)fprintf(w->out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\">\n", c.tests, c.failures);
        for (size_t i = 0; i < w->findings->n; i++) {
                if (w->findings->items[i].target != target || !is_first_of_its_rule(w->findings, i))
                        continue;
                put_rule(w, i, file);
                quiet = false;
        }
        if (quiet) {
                (void)fputs("    <testcase", w->out);
                xml_attribute(w->out, "classname", file);
                (void)fputs(" name=\"nothing fired\"/>\n", w->out);
        }
        (void)fputs("  </testsuite>\n", w->out);
}

static void put_head(FILE *out, size_t tests, size_t failures, size_t errors)
{
        (void)fprintf(out,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuites name=\"heapwatch check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
                      tests, failures, errors);
}

static int finish_output(FILE *out)
{
        const int failed = stream_flush(out);

        return fclose(out) != 0 && !failed ? -errno : failed;
}

/* Writes the file. `files[i]` is the path of target i. Returns 0 or a negative errno. */
static int junit_write(const char *path, const struct findings *f, const char *const *files, size_t n_files,
                       enum severity least)
{
        struct writer w = { .out = fopen(path, "we"), .findings = f, .least = least };
        struct counts all = { 0, 0 };

        if (!w.out)
                return -errno;
        errno = 0;
        for (size_t t = 0; t < n_files; t++) {
                struct counts c = count_findings(&w, t);
                all.tests += c.tests;
                all.failures += c.failures;
        }
        put_head(w.out, all.tests, all.failures, 0);
        for (size_t t = 0; t < n_files; t++)
                put_log(&w, t, files[t]);
        (void)fputs("</testsuites>\n", w.out);
        return finish_output(w.out);
}

/* Reports that nothing could be judged, so that no result of an earlier run is left there. Returns the same. */
static int junit_write_error(const char *path, const char *message)
{
        FILE *out = fopen(path, "we");

        if (!out)
                return -errno;
        errno = 0;
        put_head(out, 1, 0, 1);
        (void)fputs(
                "  <testsuite name=\"heapwatch check\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
                "    <testcase classname=\"heapwatch check\" name=\"input\">\n      <error type=\"input\"",
                out);
        xml_attribute(out, "message", message);
        (void)fputs("/>\n    </testcase>\n  </testsuite>\n</testsuites>\n", out);
        return finish_output(out);
}

/* ------------------------------------------------------------------- check */

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
        (void)printf("%s%s\n", before, SAFE_TEXT(4096, text));
}

static void print_finding(const struct finding *item)
{
        char when[FINDING_TIMES_MAX];

        (void)printf("  %s: %s", severity_name(item->severity), item->rule);
        if (item->band)
                (void)printf(" of %s", SAFE_TEXT(1024, item->band));
        if (item->band_source)
                (void)printf(" (%s)", SAFE_TEXT(1024, item->band_source));
        (void)printf("%s\n", finding_times(item, when));
        print_line("      ", item->sentence);
        for (size_t i = 0; i < item->n_evidence; i++)
                print_line("      ", item->evidence[i]);
}

static void print_all(const struct check *c)
{
        for (size_t t = 0; t < c->files.n; t++) {
                /* "run.eventlog: 3 alerts, with 4 parts": as every face counts them. */
                const size_t all = findings_count(&c->findings, t, SEVERITY_INFO),
                             parts = findings_parts(&c->findings, t), n = all - parts;

                if (all == 0)
                        (void)printf("%s: nothing fired\n", c->files.items[t]);
                else if (parts == 0)
                        (void)printf("%s: %zu alert%s\n", c->files.items[t], n, n == 1 ? "" : "s");
                else
                        (void)printf("%s: %zu alert%s, with %zu part%s\n", c->files.items[t], n, n == 1 ? "" : "s",
                                     parts, parts == 1 ? "" : "s");
                for (size_t i = 0; i < c->findings.n; i++)
                        if (c->findings.items[i].target == t)
                                print_finding(&c->findings.items[i]);
        }
}

/* ------------------------------------------------------------------ reading */

/* Nothing was judged: CI must not show the result of the previous run. */
static int report_failure(const struct check *c, const char *why)
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
        static const struct update_wish wish = { .kinds = WISH(TARGET) | WISH(HEALTH) | WISH(ALERT),
                                                 .ends_alone = true };
        struct feed *feed = feed_files_wanted(c->files.items, c->files.n, &c->judging, &wish, &error);
        enum feed_event event;

        if (!feed)
                return report_failure(c, error.text);
        do {
                event = feed_next(feed, -1, &update);
                if (event == FEED_UPDATE)
                        findings_add(&c->findings, update);
        } while (event != FEED_END && event != FEED_FAILED);
        if (event == FEED_FAILED)
                error_set(&error, "%s", feed_error(feed));
        feed_close(&feed);
        findings_add_unjudged(&c->findings);
        if (event == FEED_FAILED)
                return report_failure(c, error.text);
        return c->findings.refused ? report_failure(c, c->findings.refused) : EXIT_OK;
}

static int judge_log(struct check *c)
{
        int status = read_all(c), r;

        if (status != EXIT_OK)
                return status;
        print_all(c);
        if (c->junit) {
                r = junit_write(c->junit, &c->findings, c->files.items, c->files.n, (enum severity)c->least);
                if (r < 0)
                        return command_error(&command_check, "%s: %s", c->junit, strerror(-r));
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

static int run_check(void *filled)
{
        struct check *c = filled;
        int status = judge_log(c);

        findings_done(&c->findings);
        return status;
}

const struct command command_check = {
        .name = "check",
        .summary = "judge finished logs by rules: an exit status for CI",
        .usage = TEXTS("[OPTION]... LOG..."),
        .about = "Judges finished eventlogs by the built-in rules and by yours, prints what fired with the evidence; "
                 "the exit status is for CI.",
        .options = options,
        .status =
                "0 nothing that counts fired, 1 something did, or a log is damaged or not all of it could be read, 2 "
                "bad input or usage.",
        .examples = TEXTS("heapwatch check --rules ci.yaml --junit heap.xml build/*.eventlog"),
        .size = sizeof(struct check),
        .defaults = &(const struct check){ .least = SEVERITY_WARNING },
        .run = run_check,
        .offline = true,
};
