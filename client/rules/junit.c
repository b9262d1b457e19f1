/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: CI systems follow a case from build to build by suite, class and name,
 * and merge cases that share them. So a case is a rule in a log, however often
 * it fired; all its alerts are in the text. A log in which nothing fired has one
 * case that says so. Rules below the severity that counts are passed cases, with
 * their alerts as output.
 */
#include "client/rules/junit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/xml.h"

#define TEXT_MAX 4096u

struct counts {
        size_t tests, failures;
};

struct writer {
        FILE *out;
        const struct findings *findings;
        enum severity least;
};

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

static struct counts count(const struct writer *w, size_t target)
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

static void put_message(FILE *out, const struct finding *item, size_t n)
{
        char message[TEXT_MAX], more[48] = "";

        if (n > 1)
                (void)snprintf(more, sizeof(more), " (and %zu more)", n - 1);
        (void)snprintf(message, sizeof(message), "%.*s%s", (int)(sizeof(message) - sizeof(more) - 1), item->sentence,
                       more);
        xml_attribute(out, "message", message);
}

/* The case of a rule, which fired first as finding number `first`. */
static void put_rule(const struct writer *w, size_t first, const char *file)
{
        const struct finding *item = &w->findings->items[first];
        const char *element = item->severity >= w->least ? "failure" : "system-out";
        char name[256];

        (void)snprintf(name, sizeof(name), "%s (%s)", item->rule, item->group);
        (void)fputs("    <testcase", w->out);
        xml_attribute(w->out, "classname", file);
        xml_attribute(w->out, "name", name);
        (void)fprintf(w->out, ">\n      <%s", element);
        if (item->severity >= w->least) {
                xml_attribute(w->out, "type", severity_name(item->severity));
                put_message(w->out, item, times_fired(w->findings, first));
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
        struct counts c = count(w, target);
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

static int finish(FILE *out)
{
        int bad = ferror(out);

        if (fclose(out) != 0 || bad)
                return errno ? -errno : -EIO;
        return 0;
}

int junit_write(const char *path, const struct findings *f, const char *const *files, size_t n_files,
                enum severity least)
{
        struct writer w = { .out = fopen(path, "we"), .findings = f, .least = least };
        struct counts all = { 0, 0 };

        if (!w.out)
                return -errno;
        errno = 0;
        for (size_t t = 0; t < n_files; t++) {
                struct counts c = count(&w, t);
                all.tests += c.tests;
                all.failures += c.failures;
        }
        put_head(w.out, all.tests, all.failures, 0);
        for (size_t t = 0; t < n_files; t++)
                put_log(&w, t, files[t]);
        (void)fputs("</testsuites>\n", w.out);
        return finish(w.out);
}

int junit_write_error(const char *path, const char *message)
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
        return finish(out);
}
