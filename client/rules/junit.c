/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a suite, a case per alert that fired, and one case for each log in
 * which none did. Alerts that do not count are cases that passed, with their
 * sentence as output. Text is made printable first: XML 1.0 has no way to write
 * control characters.
 */
#include "client/rules/junit.h"

#include <errno.h>
#include <stdio.h>

#include "heapwatch/text.h"

static void put(FILE *out, const char *text)
{
        char safe[4096];

        hw_terminal_text(safe, sizeof(safe), text);
        for (const char *p = safe; *p; p++) {
                switch (*p) {
                case '<': (void)fputs("&lt;", out); break;
                case '>': (void)fputs("&gt;", out); break;
                case '&': (void)fputs("&amp;", out); break;
                case '"': (void)fputs("&quot;", out); break;
                default: (void)fputc(*p, out); break;
                }
        }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
        (void)fprintf(out, " %s=\"", name);
        put(out, text);
        (void)fputc('"', out);
}

static void put_finding(FILE *out, const struct finding *item, const char *file, bool counts)
{
        char name[512];

        (void)snprintf(name, sizeof(name), "%s%s%s", item->rule, item->band ? ": " : "", item->band ? item->band : "");
        (void)fputs("    <testcase", out);
        put_attribute(out, "classname", file);
        put_attribute(out, "name", name);
        (void)fprintf(out, ">\n      <%s", counts ? "failure" : "system-out");
        if (counts) {
                put_attribute(out, "type", severity_name(item->severity));
                put_attribute(out, "message", item->sentence);
        }
        (void)fputs(">", out);
        put(out, item->sentence);
        for (size_t i = 0; i < item->n_evidence; i++) {
                (void)fputc('\n', out);
                put(out, item->evidence[i]);
        }
        (void)fprintf(out, "</%s>\n    </testcase>\n", counts ? "failure" : "system-out");
}

static void put_suite(FILE *out, const struct findings *f, const char *const *files, size_t n_files,
                      enum severity least)
{
        size_t failures = 0, quiet = 0;

        for (size_t t = 0; t < n_files; t++) {
                failures += t < f->n_targets ? findings_count(f, t, least) : 0;
                quiet += t >= f->n_targets || findings_count(f, t, SEVERITY_INFO) == 0;
        }
        (void)fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                      "  <testsuite name=\"heapwatch check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
                      f->n + quiet, failures);
        for (size_t t = 0; t < n_files; t++) {
                if (t < f->n_targets && findings_count(f, t, SEVERITY_INFO) > 0)
                        continue;
                (void)fputs("    <testcase", out);
                put_attribute(out, "classname", files[t]);
                (void)fputs(" name=\"nothing fired\"/>\n", out);
        }
        for (size_t i = 0; i < f->n; i++)
                if (f->items[i].target < n_files)
                        put_finding(out, &f->items[i], files[f->items[i].target], f->items[i].severity >= least);
        (void)fputs("  </testsuite>\n</testsuites>\n", out);
}

int junit_write(const char *path, const struct findings *f, const char *const *files, size_t n_files,
                enum severity least)
{
        FILE *out = fopen(path, "we");
        int bad;

        if (!out)
                return -errno;
        errno = 0;
        put_suite(out, f, files, n_files, least);
        bad = ferror(out);
        if (fclose(out) != 0 || bad)
                return errno ? -errno : -EIO;
        return 0;
}
