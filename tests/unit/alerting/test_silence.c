/* SPDX-License-Identifier: BSD-3-Clause */
/* Silences: which alerts they match, what is refused, and the stored text, broken in every way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/watch/alerting/silence.h"
#include "proto/base/error.h"

#define S   1000000000u
#define NOW (1700000000000000000u + 1000 * (uint64_t)S)

static struct silences silences;

static int set_up(void **state)
{
        silences_init(&silences);
        return 0;
}

static int tear_down(void **state)
{
        silences_done(&silences);
        return 0;
}

static uint64_t silence(const char *rule, const char *target, uint64_t now, uint64_t length)
{
        struct silence s = { .created_wall_ns = now, .until_wall_ns = now + length };
        struct error error;
        uint64_t id = 0;

        snprintf(s.rule, sizeof(s.rule), "%s", rule);
        snprintf(s.target, sizeof(s.target), "%s", target);
        snprintf(s.why, sizeof(s.why), "deploy");
        if (!silences_add(&silences, &s, now, &id, &error))
                fail_msg("%s", error.text);
        return id;
}

TEST_WITH(silences_are_kept, set_up, tear_down)
{
        struct error error;

        silence("gc_*", "api-1", NOW, 3600 * (uint64_t)S);
        silence("old", "*", NOW, 5 * (uint64_t)S);
        char *text = silence_state_text(&silences);
        silences_done(&silences);
        assert_true(silence_state_parse(text, strlen(text), NOW + 10 * (uint64_t)S, &silences, &error));
        free(text);
        assert_int_equal(silences.n, 1);
        assert_string_equal(silences.items[0].rule, "gc_*");
        assert_string_equal(silences.items[0].why, "deploy");
        assert_true(silences.next_id > silences.items[0].id);
}

TEST_WITH(broken_state_is_refused_whole, set_up, tear_down)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "", "line 1, column 0: '[' or '{' expected near end of file" },
                { "{\"version\": 1, \"silences\": [", NULL },
                { "[]", "version 1: expected 1" },
                { "{\"version\": 2, \"silences\": [], \"done\": []}", "version 1: expected 1" },
                { "{\"version\": 1, \"silences\": {}, \"done\": []}",
                  "silences 1: expected a list of at most 1000 silences" },
                { "{\"version\": 1, \"silences\": [{\"id\": 1}], \"done\": []}",
                  "silence 1: expected id, rule, target, why, created and until" },
                { "{\"version\": 1, \"silences\": [{\"id\": -1, \"rule\": \"a\", \"target\": \"b\", \"why\": \"\","
                  " \"created\": 1, \"until\": 9000000000000000000}], \"done\": []}",
                  "silence 1: expected id, rule, target, why, created and until" },
                { "{\"version\": 1, \"silences\": [{\"id\": 1, \"rule\": \"a\", \"target\": \"b\", \"why\": \"\","
                  " \"created\": 1, \"until\": 9000000000000000000}], \"done\": []}",
                  "silence 1: a silence lasts at most 366 days" },
        };
        struct error error;

        silence("kept", "*", NOW, S);
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_false(silence_state_parse(cases[i].text, strlen(cases[i].text), NOW, &silences, &error));
                if (cases[i].error)
                        assert_string_equal(error.text, cases[i].error);
                assert_int_equal(silences.n, 1);
        }
}

/* Every single byte changed, and every cut: it is accepted as a whole or refused with a reason. */
TEST_WITH(damaged_state_is_survived, set_up, tear_down)
{
        static const char with[] = "\0\"{}[]:,-09aez\\\x80\xff";
        struct error error;

        silence("gc_*", "api-1", NOW, 3600 * (uint64_t)S);
        char *text = silence_state_text(&silences);
        size_t size = strlen(text);

        for (size_t i = 0; i < size; i++) {
                char was = text[i];

                for (size_t w = 0; w < sizeof(with) - 1; w++) {
                        text[i] = with[w];
                        error.text[0] = '\0';
                        bool good = silence_state_parse(text, size, NOW, &silences, &error);
                        assert_true(good == !error.text[0]);
                        assert_true(silences.n <= 1);
                }
                text[i] = was;
                assert_true(!silence_state_parse(text, i, NOW, &silences, &error));
        }
        assert_true(silence_state_parse(text, size, NOW, &silences, &error));
        assert_int_equal(silences.n, 1);
        free(text);
}

TEST_WITH(silences_are_checked, set_up, tear_down)
{
        struct silence s = { .rule = "a", .target = "*", .until_wall_ns = NOW };
        struct error error;
        uint64_t id;

        assert_false(silences_add(&silences, &s, NOW, &id, &error));
        assert_string_equal(error.text, "the end of the silence is not in the future");
        s.until_wall_ns = NOW + S;
        s.rule[0] = '\0';
        assert_false(silences_add(&silences, &s, NOW, &id, &error));
        s.rule[0] = '\x1b';
        assert_false(silences_add(&silences, &s, NOW, &id, &error));

        uint64_t first = silence("leak", "*", NOW, S), again = silence("leak", "*", NOW, 2 * (uint64_t)S);
        assert_true(again > first);
        assert_int_equal(silences.n, 1); /* the same patterns: replaced */
        uint64_t longer = silence("l*", "api-?", NOW, 9 * (uint64_t)S);
        assert_int_equal(silences_find(&silences, "leak", "api-1", NOW)->id, longer);
        assert_int_equal(silences_find(&silences, "leak", "api-12", NOW)->id, again);
        assert_null(silences_find(&silences, "gc", "api-1", NOW));
        assert_null(silences_find(&silences, "leak", "api-1", NOW + 9 * (uint64_t)S));
        assert_int_equal(silences_remove(&silences, longer, NULL, NULL), 1);
        assert_int_equal(silences_remove(&silences, 0, "leak", "x"), 0);
        assert_int_equal(silences_remove(&silences, 0, "leak", "*"), 1);
        for (unsigned i = 0; i < SILENCES_MAX; i++) {
                snprintf(s.rule, sizeof(s.rule), "r%u", i);
                assert_true(silences_add(&silences, &s, NOW, &id, &error));
        }
        snprintf(s.rule, sizeof(s.rule), "one more");
        assert_false(silences_add(&silences, &s, NOW, &id, &error));
        assert_string_equal(error.text, "there can be at most 1000 silences; end some first");
        assert_int_equal(silences_expire(&silences, NOW + S), SILENCES_MAX);
}
