/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a notice owns everything, is valid UTF-8 and bounded; the fingerprint tells alerts apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/rules/notice.h"
#include "heapwatch/text.h"

static void copy_owns_its_texts(void **state)
{
        char target[] = "api", rule[] = "leak", name[] = "team", value[] = "db", note[] = "summary", text[] = "grows";
        struct notice_pair labels[] = { { name, value }, { "x", NULL } }, annotations[] = { { note, text } };
        struct notice n = {
                .fingerprint = 7,
                .target = target,
                .rule = rule,
                .group = "memory",
                .state = NOTICE_FIRING,
                .severity = NOTICE_CRITICAL,
                .has_value = true,
                .value = 3.5,
                .labels = labels,
                .n_labels = 2,
                .annotations = annotations,
                .n_annotations = 1,
                .fired_ns = NOTICE_NO_TIME,
        };
        struct notice *copy = notice_copy(&n);

        (void)state;
        memset(target, 'x', strlen(target));
        memset(value, 'x', strlen(value));
        memset(text, 'x', strlen(text));
        labels[0].name = NULL;
        assert_string_equal(copy->target, "api");
        assert_string_equal(copy->rule, "leak");
        assert_string_equal(copy->group, "memory");
        assert_null(copy->band);
        assert_null(copy->value_text);
        assert_string_equal(notice_label(copy, "team"), "db");
        assert_null(notice_label(copy, "x"));
        assert_null(notice_label(copy, "summary"));
        assert_string_equal(notice_annotation(copy, "summary"), "grows");
        assert_true(copy->has_value && copy->value == 3.5);
        assert_int_equal(copy->fired_ns, NOTICE_NO_TIME);

        struct notice *again = notice_copy(copy);

        free(copy);
        assert_string_equal(notice_annotation(again, "summary"), "grows");
        free(again);
}

static void copy_is_clean_and_bounded(void **state)
{
        size_t size = 3 * LIMIT_NOTICE_TEXT_BYTES;
        char *junk = malloc(size);
        struct notice_pair many[LIMIT_NOTICE_PAIRS + 9];

        (void)state;
        memset(junk, 0xff, size - 1);
        junk[size - 1] = '\0';
        for (size_t i = 0; i < LIMIT_NOTICE_PAIRS + 9; i++)
                many[i] = (struct notice_pair){ "name", junk };

        struct notice n = { .target = "t",
                            .rule = junk,
                            .band = "\xc3",
                            .sentence = "",
                            .labels = many,
                            .n_labels = LIMIT_NOTICE_PAIRS + 9,
                            .annotations = many,
                            .n_annotations = LIMIT_NOTICE_PAIRS + 9 };
        struct notice *copy = notice_copy(&n);

        free(junk);
        assert_true(strlen(copy->rule) < LIMIT_NOTICE_TEXT_BYTES);
        assert_true(strlen(copy->rule) > LIMIT_NOTICE_TEXT_BYTES - 4);
        assert_true(hw_utf8_valid(copy->rule, strlen(copy->rule)));
        assert_string_equal(copy->band, "\xef\xbf\xbd");
        assert_string_equal(copy->sentence, "");
        assert_int_equal(copy->n_labels, LIMIT_NOTICE_PAIRS);
        assert_int_equal(copy->n_annotations, LIMIT_NOTICE_PAIRS);
        for (size_t i = 0; i < LIMIT_NOTICE_PAIRS; i++)
                assert_true(hw_utf8_valid(copy->annotations[i].value, strlen(copy->annotations[i].value)));
        free(copy);
}

static void fingerprint_tells_alerts_apart(void **state)
{
        uint64_t a = notice_fingerprint("g", "leak", "api", "Main.x", NULL);

        (void)state;
        assert_int_equal(a, notice_fingerprint("g", "leak", "api", "Main.x", NULL));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", "Main.x", "sat_info"));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", "Main.y", NULL));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", NULL, NULL));
        assert_int_not_equal(notice_fingerprint("g", "leak", "api", NULL, NULL),
                             notice_fingerprint("g", "leak", "api", "", NULL));
        assert_int_not_equal(notice_fingerprint("g", "ab", "c", NULL, NULL),
                             notice_fingerprint("g", "a", "bc", NULL, NULL));
        assert_int_not_equal(notice_fingerprint("g", "a", "b", NULL, NULL),
                             notice_fingerprint("g", "b", "a", NULL, NULL));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(copy_owns_its_texts),
                cmocka_unit_test(copy_is_clean_and_bounded),
                cmocka_unit_test(fingerprint_tells_alerts_apart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
