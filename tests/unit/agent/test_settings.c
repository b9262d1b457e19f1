/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's inputs: settings, the program's own options, requests. */
#include <string.h>

#include "tests/unit/test.h"

#include "agent/control.h"
#include "agent/settings.h"

static bool parse(const char *text, struct agent_settings *s)
{
        struct error error = { .text = "" };

        settings_default(s);
        bool good = settings_parse(s, text, &error);
        assert_int_equal(good, error.text[0] == '\0');
        return good;
}

TEST(test_settings_are_taken)
{
        struct agent_settings s;

        assert_true(parse("", &s));
        assert_int_equal(s.heap, 'T');
        assert_true(parse(
                ";socket=/a/"
                "b;heap=i;interval=0.5;flush=2;budget=2.5;queue=1;classes=gus;once=1;linger=0;await=3;max-pause=0.05",
                &s));
        assert_string_equal(s.socket, "/a/b");
        assert_int_equal(s.heap, 'i');
        assert_int_equal(s.interval_ns, 500000000);
        assert_int_equal(s.flush_ns, 2000000000);
        assert_true(s.budget > 0.0249 && s.budget < 0.0251);
        assert_int_equal(s.queue_bytes, 1 << 20);
        assert_string_equal(s.classes, "gus");
        assert_true(s.once);
        assert_int_equal(s.linger_ns, 0);
        assert_int_equal(s.await_ns, 3000000000);
        assert_int_equal(s.max_pause_ns, 50000000);
        assert_true(s.reader == AGENT_NO_READER);
        assert_true(parse("reader=4294967294", &s) && s.reader == 4294967294u);
        assert_true(parse("reader=0", &s) && s.reader == 0);
        assert_true(parse("heap=none", &s));
        assert_int_equal(s.heap, 0);
}

TEST(test_what_is_not_a_setting_is_refused)
{
        static const char *const wrong[] = {
                "socket=relative", "heap=",
                "heap=x",          "heap=Ti",
                "interval=0",      "interval=nan",
                "interval=1x",     "flush=",
                "flush",           "queue=0",
                "budget=-1",       "budget=101",
                "max-pause=-1",    "classes=rm x",
                "once=yes",        "classes=gggggggggggggggg",
                "unknown=1",       "=",
                "reader=",         "reader=root",
                "reader=-1",       "reader=4294967295",
        };
        struct agent_settings s;
        char longest[2 * AGENT_PATH_MAX];

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                if (parse(wrong[i], &s))
                        fail_msg("taken: %s", wrong[i]);
        memset(longest, 'a', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = '\0';
        memcpy(longest, "socket=/", 8);
        assert_false(parse(longest, &s));
        longest[7 + AGENT_PATH_MAX] = '\0'; /* one byte more than fits */
        assert_false(parse(longest, &s));
        longest[6 + AGENT_PATH_MAX] = '\0';
        assert_true(parse(longest, &s));
}

TEST(test_options_of_the_program_are_seen)
{
        static const char arguments[] = "prog\0-hT\0+RTS\0-l\0-RTS\0-xn\0+RTS\0-hc\0--\0-w";
        struct own_options o = { 0 };

        options_of_arguments(&o, arguments, sizeof(arguments));
        assert_true(o.log && o.heap_profile && !o.collector.mark_region && !o.cost_profile);
        assert_non_null(options_refuse_profile(&o));

        o = (struct own_options){ 0 };
        options_of_words(&o, NULL);
        options_of_words(&o, "  -N2\t-A64m ");
        assert_null(options_refuse_profile(&o));
        options_of_words(&o, "--nonmoving-gc");
        assert_non_null(options_refuse_profile(&o));
        options_of_words(&o, "--copying-gc");
        assert_null(options_refuse_profile(&o));
        options_of_words(&o, "-w");
        assert_non_null(options_refuse_profile(&o));

        o = (struct own_options){ 0 };
        options_of_words(&o, "-p");
        assert_non_null(options_refuse_profile(&o));
}

TEST(test_the_first_argument_is_a_name)
{
        struct own_options o = { 0 };

        options_of_arguments(&o, "+RTS\0-l", 8);
        assert_false(o.log);
        options_of_arguments(&o, "x\0+RTS\0-l", 9); /* the last one without its end */
        assert_true(o.log);
}

TEST(test_requests)
{
        struct request r;
        struct error error;

        assert_true(control_parse("7 census", &r, &error));
        assert_int_equal(r.id, 7);
        assert_int_equal(r.verb, REQUEST_CENSUS);
        assert_true(control_parse("8 heap none", &r, &error));
        assert_int_equal(r.letter, 0);
        assert_true(control_parse("9 interval 2.5", &r, &error));
        assert_int_equal(r.ns, 2500000000);
        assert_true(control_parse("4294967295 classes gu", &r, &error));
        assert_string_equal(r.text, "gu");
        assert_true(control_parse("1 budget 0.5", &r, &error));
        assert_true(r.share > 0.0049 && r.share < 0.0051);
        assert_true(control_parse("1 max-pause 0.2", &r, &error));
        assert_int_equal(r.ns, 200000000);

        static const char *const wrong[] = {
                "",           "census", "7",        "7 ",        "-7 census",         "7 cen",
                "7 census x", "7 heap", "7 heap x", "7 flush 0", "4294967296 status", "7 classes g;heap=i"
        };
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                if (control_parse(wrong[i], &r, &error))
                        fail_msg("taken: %s", wrong[i]);
        assert_int_equal(r.id, 7); /* so that the answer finds who asked */
}
