/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/cli/command.h"
#include "proto/cli/complete.h"
#include "proto/cli/options.h"

struct filled {
        bool flag, json;
        const char *text, *view;
        struct text_list list, words, operands;
        uint64_t since_ns, interval_ns, size_bytes;
        unsigned number;
        double speed;
        int choice;
        char *called;
};

static int called(const struct command *c, const struct option *o, void *filled, char *value)
{
        if (!strcmp(value, "bad"))
                return option_error(c, o, "'%s' is not good", value);
        ((struct filled *)filled)->called = value;
        return 0;
}

static const char *nth_view(size_t n)
{
        return (const char *const[]){ "overview", "memory", NULL }[n];
}

static const char *const choices[] = { "low", "middle", "high", NULL };

static const struct option options[] = {
        OPTION_FLAG("flag", 'g', struct filled, flag, "a flag"),
        OPTION_JSON(struct filled, json, "the format"),
        OPTION_TEXT("text", 't', "TEXT", struct filled, text, COMPLETE_FILE, "a text"),
        OPTION_NAME("view", 0, "NAME", struct filled, view, nth_view, "{}: a view"),
        OPTION_LIST("list", 'l', "TEXT", struct filled, list, COMPLETE_TARGET, "one of many"),
        OPTION_WORDS("words", 0, "A,B", struct filled, words, COMPLETE_TARGET, "many in one"),
        OPTION_DURATION("since", 0, struct filled, since_ns, UINT64_C(100000000), UINT64_C(3600000000000), "a time"),
        OPTION_SECONDS("interval", 0, "S", struct filled, interval_ns, 0, UINT64_C(10000000000), "seconds"),
        OPTION_BYTES("size", 0, struct filled, size_bytes, 1, "a size"),
        OPTION_NUMBER("number", 'n', unsigned, struct filled, number, 1, 10, "a number"),
        OPTION_POSITIVE("speed", "X", struct filled, speed, "a real number"),
        OPTION_CHOICE("level", 0, "LEVEL", int, struct filled, choice, choices, "a choice"),
        OPTION_CALLBACK("call", 0, "X", called, COMPLETE_NOTHING, "whatever"),
        OPTION_FLAG("hidden", 0, struct filled, flag, NULL),
        OPERAND_LIST("FILE...", 0, struct filled, operands, COMPLETE_FILE, NULL),
        OPTIONS_END,
};

static const struct command command = {
        .name = "test",
        .summary = "a command",
        .usage = (const char *const[]){ "[OPTION]...", NULL },
        .options = options,
        .status = "0.",
        .examples = (const char *const[]){ "heapwatch test", NULL },
        .size = sizeof(struct filled),
};

static char said[4096]; /* by the last parse, on both streams */

/* What `of` writes to standard output or standard error meanwhile is in `said`. */
static void listen_to(FILE *stream, int *ret_kept, FILE **ret_file)
{
        (void)fflush(stream);
        *ret_kept = dup(fileno(stream));
        *ret_file = tmpfile();
        assert_non_null(*ret_file);
        assert_true(dup2(fileno(*ret_file), fileno(stream)) >= 0);
}

static void listen_end(FILE *stream, int kept, FILE *file)
{
        (void)fflush(stream);
        assert_true(dup2(kept, fileno(stream)) >= 0);
        close(kept);
        rewind(file);
        said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
        (void)fclose(file);
}

#define parse(f, ...) parse_words(&command, f, (const char *[]){ "test", __VA_ARGS__, NULL })

static enum options_result parse_words(const struct command *c, struct filled *f, const char **words)
{
        static char kept_words[40][64];
        char *argv[41];
        int argc = 0, kept;
        FILE *file;

        for (; words[argc]; argc++) {
                (void)snprintf(kept_words[argc], sizeof(kept_words[argc]), "%s", words[argc]);
                argv[argc] = kept_words[argc];
        }
        argv[argc] = NULL;
        *f = (struct filled){ .choice = -1 };
        listen_to(stderr, &kept, &file);
        enum options_result r = options_parse(c, f, argc, argv);
        listen_end(stderr, kept, file);
        return r;
}

TEST(every_type_goes_to_its_place)
{
        struct filled f;

        assert_int_equal(parse(&f, "--flag", "--format", "json", "--text=a=b", "-l", "x", "--list", "y", "--since",
                               "5m", "--interval=0.5", "--size", "1.5GiB", "-n7", "--level", "high", "--call", "me"),
                         OPTIONS_GO);
        assert_true(f.flag && f.json);
        assert_string_equal(f.text, "a=b");
        assert_int_equal(f.list.n, 2);
        assert_string_equal(f.list.items[1], "y");
        assert_null(f.list.items[2]);
        assert_int_equal(f.since_ns, UINT64_C(300000000000));
        assert_int_equal(f.interval_ns, 500000000);
        assert_int_equal(f.size_bytes, UINT64_C(3) << 29);
        assert_int_equal(f.number, 7);
        assert_int_equal(f.choice, 2);
        assert_string_equal(f.called, "me");
        assert_int_equal(parse(&f, "--view", "memory", "--words", "a,b", "--speed", "2.5", "--format=text"),
                         OPTIONS_GO);
        assert_string_equal(f.view, "memory");
        assert_int_equal(f.words.n, 2);
        assert_true(f.speed > 2.4 && f.speed < 2.6);
        assert_false(f.json);
}

TEST(words_are_read_as_by_getopt)
{
        struct filled f;

        assert_int_equal(parse(&f, "one", "--flag", "two", "-", "--", "--flag", "-n"), OPTIONS_GO);
        assert_int_equal(f.operands.n, 5);
        assert_string_equal(f.operands.items[2], "-");
        assert_string_equal(f.operands.items[4], "-n");
        assert_int_equal(parse(&f, "--inter", "2", "-gn", "3"), OPTIONS_GO); /* an unambiguous beginning; two letters */
        assert_int_equal(f.interval_ns, UINT64_C(2000000000));
        assert_int_equal(f.number, 3);
        assert_true(f.flag);
        assert_int_equal(parse(&f, "--si", "2"), OPTIONS_BAD); /* since or size */
}

TEST(each_mistake_is_named)
{
        static const struct {
                const char *words[3], *expected;
        } cases[] = {
                { { "--since", "soon" },
                  "heapwatch test: --since: 'soon': expected a duration in ns, us, ms, s, m, h or d, e.g. 500ms; see "
                  "`heapwatch test --help`\n" },
                { { "--since", "2h" }, "--since: '2h': expected 100ms to 1h;" },
                { { "--interval", "-1" }, "expected seconds, or a duration" },
                { { "--interval", "nan" }, "expected seconds, or a duration" },
                { { "--size", "0" }, "expected more than nothing" },
                { { "--size", "big" }, "expected a size, e.g. 512M" },
                { { "--number", "11" }, "expected 1 to 10" },
                { { "--number", "-1" }, "expected a whole number" },
                { { "--number", "1x" }, "expected a whole number" },
                { { "--speed", "inf" }, "expected a number above 0" },
                { { "--level", "hihg" }, "did you mean 'high'? See" },
                { { "--level", "42" }, "expected low, middle or high;" },
                { { "--words", "a,,b" }, "an empty name in a list" },
                { { "--call", "bad" }, "--call: 'bad' is not good;" },
                { { "--flga" }, "unknown option --flga; did you mean '--flag'?" },
                { { "--hiden" }, "unknown option --hiden;" },
                { { "-q" }, "unknown option -q;" },
                { { "--text" }, "--text: the value is missing; expected --text TEXT" },
                { { "--flag=1" }, "--flag: takes no value, got '1'" },
                { { "--=x" }, "unknown option --;" },
        };
        struct filled f;

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const char *words[] = { "test", cases[i].words[0], cases[i].words[1], NULL };

                assert_int_equal(parse_words(&command, &f, words), OPTIONS_BAD);
                if (!strstr(said, cases[i].expected))
                        fail_msg("%s: %s", cases[i].words[0], said);
        }
}

TEST(lists_are_bounded)
{
        char *argv[2 * OPTIONS_MAX + 2];
        struct filled f = { .flag = false };
        int kept;
        FILE *file;

        for (size_t i = 0; i < 2 * OPTIONS_MAX + 2; i++)
                argv[i] = (char *)"x";
        listen_to(stderr, &kept, &file);
        assert_int_equal(options_parse(&command, &f, OPTIONS_MAX + 1, argv), OPTIONS_GO);
        assert_null(f.operands.items[f.operands.n]);
        f.operands.n = 0;
        assert_int_equal(options_parse(&command, &f, 2 * OPTIONS_MAX, argv), OPTIONS_BAD);
        listen_end(stderr, kept, file);
}

TEST(operands_are_counted_and_the_rest_is_left_alone)
{
        struct rest {
                const char *first;
                char **rest;
        } r;
        static const struct option table[] = {
                OPERAND_TEXT("FIRST", struct rest, first, COMPLETE_FILE, NULL),
                OPERAND_REST("PROGRAM [ARGUMENT]...", struct rest, rest, COMPLETE_PROGRAM, NULL),
                OPTIONS_END,
        };
        const struct command c = { .name = "rest", .options = table, .usage = command.usage };
        char *argv[] = { (char *)"rest", (char *)"a", (char *)"b", (char *)"--help", NULL };
        int kept;
        FILE *file;

        assert_int_equal(options_parse(&c, &r, 4, argv), OPTIONS_GO);
        assert_string_equal(r.first, "a");
        assert_ptr_equal(r.rest, argv + 2);
        listen_to(stderr, &kept, &file);
        assert_int_equal(options_parse(&c, &r, 2, argv), OPTIONS_BAD);
        listen_end(stderr, kept, file);
        assert_non_null(strstr(said, "PROGRAM [ARGUMENT]... is missing"));
}

TEST(help_has_80_columns_and_all_that_is_listed)
{
        FILE *to = tmpfile();
        char line[256];
        bool any = false, words = false;

        help_print(to, &command);
        rewind(to);
        while (fgets(line, sizeof(line), to)) {
                assert_true(strlen(line) <= 81);
                any = any || strstr(line, "-n, --number N");
                words = words || strstr(line, "overview or memory: a view");
                assert_null(strstr(line, "hidden"));
        }
        assert_true(any && words);
        (void)fclose(to);
}

static void source(const struct complete_place *p)
{
        if (p->what == COMPLETE_TARGET) {
                complete_offer(p, "api-1", NULL);
                complete_offer(p, "worker", NULL);
        }
}

TEST(completion_offers_what_may_follow)
{
        static const struct {
                const char *words[4], *expected;
        } cases[] = {
                { { "--fl" }, "--flag\ta flag\n" },
                { { "--level", "h" }, "high\n" },
                { { "--level=" }, "--level=low\n--level=middle\n--level=high\n" },
                { { "-l", "a" }, "api-1\n" },
                { { "--words", "api-1,w" }, "api-1,worker\n" },
                { { "--words=w" }, "--words=worker\n" },
                { { "--text", "" }, ":files\n" },
                { { "x", "--", "--fl" }, ":files\n" },
                { { "--nothing", "--fla" }, "--flag\ta flag\n" },
                { { "--hid" }, "" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                FILE *to = tmpfile();
                char *words[4], text[512];
                int n = 0;

                for (; n < 4 && cases[i].words[n]; n++)
                        words[n] = (char *)cases[i].words[n];
                complete_words(to, &command, n, words, source);
                rewind(to);
                text[fread(text, 1, sizeof(text) - 1, to)] = '\0';
                (void)fclose(to);
                assert_string_equal(text, cases[i].expected);
        }
}
