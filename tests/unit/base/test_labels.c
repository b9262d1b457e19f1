/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels of runs: which are taken, and what is said of the others. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/error.h"
#include "proto/base/labels.h"

static const struct {
        const char *labels[3], *refused; /* refused: part of what is said; NULL: taken */
} rows[] = {
        { { "version=1.4.2" }, NULL },
        { { "git/commit=a=b c", "stage=\xC3\xA9" }, NULL },
        { { "" }, "expected NAME=VALUE" },
        { { "version" }, "expected NAME=VALUE" },
        { { "=1" }, "expected NAME=VALUE" },
        { { "a=" }, "expected NAME=VALUE" },
        { { "a b=1" }, "expected NAME=VALUE" },
        { { "a=x\ny=1" }, "not printable" },
        { { "a=\x1B[2J" }, "not printable" },
        { { "a=\xC3" }, "not printable" },
        { { "a=\xC2\x85" }, "not printable" },
        { { "a=\xE2\x80\xAEgp.exe" }, "not printable" }, /* right-to-left override */
        { { "ab=1", "a=1" }, NULL },
        { { "a=1", "b=2", "a=3" }, "'a' is given twice" },
};

TEST(only_what_can_be_shown_is_taken)
{
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct error error = { "" };
                char text[LABELS_SIZE];
                size_t n = 0;

                while (n < 3 && rows[i].labels[n])
                        n++;
                assert_int_equal(labels_join(rows[i].labels, n, text, &error), !rows[i].refused);
                if (rows[i].refused)
                        assert_non_null(strstr(error.text, rows[i].refused));
        }
}

TEST(they_come_back_in_their_order)
{
        static const char *const given[] = { "version=1.4.2", "stage=test" };
        char text[LABELS_SIZE];
        const char *at = text, *label;
        size_t n, i = 0;

        assert_true(labels_join(given, 2, text, NULL));
        for (; (label = labels_next(&at, &n)) != NULL; i++) {
                assert_int_equal(n, strlen(given[i]));
                assert_memory_equal(label, given[i], n);
        }
        assert_int_equal(i, 2);
        assert_true(labels_join(NULL, 0, text, NULL));
        assert_string_equal(text, "");
        at = NULL;
        assert_null(labels_next(&at, &n));
}

TEST(they_are_bounded)
{
        char longest[LABEL_VALUE_MOST + 4] = "a=", texts[LABELS_MOST + 1][LABEL_VALUE_MOST + 8];
        const char *labels[LABELS_MOST + 1] = { longest };
        char text[LABELS_SIZE];

        memset(longest + 2, 'x', LABEL_VALUE_MOST);
        assert_true(labels_join(labels, 1, text, NULL));
        longest[2 + LABEL_VALUE_MOST] = 'x';
        assert_false(labels_join(labels, 1, text, NULL));
        for (int i = 0; i <= LABELS_MOST; i++) {
                (void)snprintf(texts[i], sizeof(texts[i]), "l%d=%0200d", i, 0);
                labels[i] = texts[i];
        }
        assert_true(labels_join(labels, 5, text, NULL)); /* 1,020 bytes */
        assert_false(labels_join(labels, 6, text, NULL));
        for (int i = 0; i <= LABELS_MOST; i++)
                (void)snprintf(texts[i], sizeof(texts[i]), "l%d=1", i);
        assert_true(labels_join(labels, LABELS_MOST, text, NULL));
        assert_false(labels_join(labels, LABELS_MOST + 1, text, NULL));
}
