/* SPDX-License-Identifier: BSD-3-Clause */
/* print_junit.c - a case for each bound, as JUnit XML, so that CI systems can follow it from build to build. */
#include "client/cli/xml.h"
#include "client/diff/print.h"

static void put_case(FILE *to, const struct result *r, const struct bound *b)
{
        static const char *const elements[] = {
                [BOUND_KEPT] = "system-out",
                [BOUND_UNDECIDED] = "skipped",
                [BOUND_BROKEN] = "failure",
        };
        enum decision d = bound_judge(b, &r->comparison).decision;
        char text[1024];

        if (d == BOUND_UNDECIDED && r->strict)
                d = BOUND_BROKEN;
        (void)judgement_text(text, sizeof(text), b, &r->comparison);
        (void)fputs("    <testcase classname=\"heapwatch diff\"", to);
        xml_attribute(to, "name", b->text);
        (void)fprintf(to, ">\n      <%s", elements[d]);
        if (d == BOUND_KEPT) {
                (void)fputc('>', to);
                xml_text(to, text);
                (void)fprintf(to, "</%s>\n    </testcase>\n", elements[d]);
                return;
        }
        xml_attribute(to, "message", text);
        (void)fputs("/>\n    </testcase>\n", to);
}

void print_junit(FILE *to, const struct result *r)
{
        size_t undecided = result_count(r, BOUND_UNDECIDED);
        size_t failed = result_count(r, BOUND_BROKEN) + (r->strict ? undecided : 0),
               skipped = r->strict ? 0 : undecided;
        char name[1024];

        (void)fprintf(to,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuites name=\"heapwatch diff\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n  <testsuite",
                      r->bounds.n, failed);
        xml_attribute(to, "name", side_text(name, sizeof(name), r->comparison.a));
        (void)fprintf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", r->bounds.n, failed,
                      skipped);
        for (size_t i = 0; i < r->bounds.n; i++)
                put_case(to, r, &r->bounds.items[i]);
        (void)fputs("  </testsuite>\n</testsuites>\n", to);
}
