/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden.h - all that a program of tests says, in one text beside it, which alone knows the wording.
 *
 * `make golden` writes these texts anew, and their diff is reviewed. Below the name of each test is what is said in its
 * states; of one state only what differs from the state before.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define GOLDEN_LINES_MAX 32 /* of one state */

static struct {
        char *text;
        size_t size;
        FILE *out;
        const char *test;
        struct {
                char what[16], *said;
        } lines[GOLDEN_LINES_MAX];
        size_t n_lines;
} golden;

static void golden_forget(void)
{
        while (golden.n_lines > 0)
                free(golden.lines[--golden.n_lines].said);
}

/* Opens the text, and the part of it that is of this test. */
static void golden_open(const char *test)
{
        if (!golden.out)
                golden.out = open_memstream(&golden.text, &golden.size);
        assert_non_null(golden.out);
        if (golden.test && !strcmp(golden.test, test))
                return;
        golden_forget();
        (void)fprintf(golden.out, "%s%s\n", golden.test ? "\n" : "", test);
        golden.test = test;
}

/* One line that stands for itself. */
static inline void golden_line(const char *test, const char *key, const char *said)
{
        golden_open(test);
        (void)fprintf(golden.out, "  [%s] %s\n", key, said);
}

/* Whatever is said of `what` in this state; "": nothing. */
static inline void golden_says(const char *what, const char *said)
{
        size_t i = 0;

        while (i < golden.n_lines && strcmp(golden.lines[i].what, what) != 0)
                i++;
        if (i < golden.n_lines && !strcmp(golden.lines[i].said, said))
                return;
        if (i == golden.n_lines) {
                if (!*said)
                        return;
                assert_in_range(i, 0, GOLDEN_LINES_MAX - 1);
                (void)snprintf(golden.lines[golden.n_lines++].what, sizeof(golden.lines[i].what), "%s", what);
        } else {
                free(golden.lines[i].said);
        }
        golden.lines[i].said = strdup(said);
        (void)fprintf(golden.out, "  %-8s %s\n", what, *said ? said : "(nothing)");
}

/* Compares with the text, or writes it. */
static void golden_compare(const char *path)
{
        const char *wish = getenv("HEAPWATCH_GOLDEN");
        char *expected = NULL;
        size_t size = 0;

        assert_int_equal(fclose(golden.out), 0);
        golden_forget();
        FILE *f = fopen(path, wish ? "w" : "r");
        if (!f)
                fail_msg("%s: %s", path, strerror(errno));
        if (wish)
                (void)fwrite(golden.text, 1, golden.size, f);
        else if (getdelim(&expected, &size, '\0', f) < 0)
                fail_msg("%s: %s", path, strerror(errno));
        (void)fclose(f);
        const char *a = golden.text, *b = expected ? expected : golden.text;
        for (unsigned line = 1; strcmp(a, b) != 0; line++) {
                const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
                if (n != m || memcmp(a, b, n) != 0)
                        fail_msg("%s:%u: expected \"%.*s\", said \"%.*s\"; `make golden` writes it anew", path, line,
                                 (int)m, b, (int)n, a);
                a += n + (a[n] == '\n');
                b += m + (b[m] == '\n');
        }
        free(expected);
        free(golden.text);
}

/* The last test of a program. */
#define TEST_GOLDEN(path)                                                                                              \
        TEST(what_is_said_is_as_it_was_reviewed)                                                                       \
        {                                                                                                              \
                golden_compare(path);                                                                                  \
        }
