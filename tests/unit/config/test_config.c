/* SPDX-License-Identifier: BSD-3-Clause */
/* heapwatchd's command line: what each option sets, what is refused and how, and its precedence over the file. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/watch/config/config.h"
#include "proto/base/limits.h"

#define WORDS 16
#define GIB   (UINT64_C(1) << 30)
#define S     UINT64_C(1000000000)

/* What config_parse made of a command line, and what it printed. */
struct outcome {
        enum config_result result;
        struct config c;
        char out[16384], err[16384];
};

static struct outcome o;

static void collect(FILE *file, int fd, int kept, char *text, size_t size)
{
        fflush(fd == STDERR_FILENO ? stderr : stdout);
        dup2(kept, fd);
        close(kept);
        rewind(file);
        text[fread(text, 1, size - 1, file)] = '\0';
        fclose(file);
}

static void parse_words(int argc, char **argv)
{
        FILE *out = tmpfile(), *err = tmpfile();
        int kept_out = dup(STDOUT_FILENO), kept_err = dup(STDERR_FILENO);

        config_done(&o.c);
        assert_true(out && err);
        fflush(stdout);
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        o.result = config_parse(&o.c, argc, argv);
        collect(out, STDOUT_FILENO, kept_out, o.out, sizeof(o.out));
        collect(err, STDERR_FILENO, kept_err, o.err, sizeof(o.err));
        assert_true((o.result == CONFIG_BAD) == (o.err[0] != '\0')); /* a refusal says why; nothing else is on stderr */
}

/* A command line, blanks between the words. */
static enum config_result parse(const char *line)
{
        static char words[4096];
        char *argv[WORDS + 2] = { (char *)"heapwatchd" }, *rest = words;
        int argc = 1;

        assert_true(strlen(line) < sizeof(words));
        memcpy(words, line, strlen(line) + 1);
        for (char *word; (word = strtok_r(rest, " ", &rest));) {
                assert_true(argc <= WORDS);
                argv[argc++] = word;
        }
        parse_words(argc, argv);
        return o.result;
}

static void refused(const char *line, const char *because)
{
        assert_int_equal(parse(line), CONFIG_BAD);
        if (!strstr(o.err, because))
                fail_msg("'%s' is refused with '%s', which does not say '%s'", line, o.err, because);
}

static int set_up(void **state)
{
        return setenv("XDG_RUNTIME_DIR", "/run/user/someone", 1);
}

/* ------------------------------------------------------------------- options */

TEST(what_holds_without_options)
{
        assert_int_equal(parse(""), CONFIG_RUN);
        assert_int_equal(o.c.task, TASK_WATCH);
        assert_int_equal(o.c.n_targets, 0);
        assert_int_equal(o.c.n_rules, 0);
        assert_int_equal(o.c.log_level.common, LOG_INFO);
        assert_false(o.c.show_arguments || o.c.print_config);
        assert_true(strstr(o.c.publish_endpoint, "ipc://") == o.c.publish_endpoint);
        assert_true(strstr(o.c.request_endpoint, "ipc://") == o.c.request_endpoint);
        assert_string_not_equal(o.c.publish_endpoint, o.c.request_endpoint);
}

/* So that what is not set is not 0 by luck. */
__attribute__((noinline)) static void fill_stack(void)
{
        volatile char bytes[1 << 16];

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char)0xa5;
}

TEST(a_target_is_recorded)
{
        struct config c = { 0 };
        struct error error;

        fill_stack();
        assert_true(config_add_target(&c, "a", "/x", &error));
        assert_memory_equal(&c.targets[0].no_record, &(bool){ false }, sizeof(bool));
        free(c.targets);
}

TEST(each_option)
{
        assert_int_equal(parse("--publish ipc:///x/p --request=ipc:///x/r --show-arguments --log-level "
                               "error,source=debug a=/x b=unix:/y fifo:/z/c.fifo"),
                         CONFIG_RUN);
        assert_string_equal(o.c.publish_endpoint, "ipc:///x/p");
        assert_string_equal(o.c.request_endpoint, "ipc:///x/r");
        assert_true(o.c.show_arguments);
        char levels[LOG_LEVELS_TEXT];
        log_print_levels(levels, &o.c.log_level);
        assert_string_equal(levels, "error,source=debug");
        assert_int_equal(o.c.n_targets, 3);
        assert_string_equal(o.c.targets[0].name, "a");
        assert_string_equal(o.c.targets[0].uri.text, "file:/x");
        assert_int_equal(o.c.targets[1].uri.kind, SOURCE_UNIX);
        assert_int_equal(o.c.targets[2].uri.kind, SOURCE_FIFO);

        assert_int_equal(parse("--resolution 500ms --leak-after 10m --limit 2GiB"), CONFIG_RUN);
        assert_true(o.c.trend.resolution_ns == S / 2);
        assert_true(o.c.trend.leak_after_ns == 600 * S);
        assert_true(o.c.trend.limit_bytes == 2 * GIB);

        assert_int_equal(parse("--rules a.yaml --rules b.yaml x"), CONFIG_RUN);
        assert_int_equal(o.c.n_rules, 2);
        assert_string_equal(o.c.rules[0], "a.yaml");
        assert_string_equal(o.c.rules[1], "b.yaml");
        assert_string_equal(o.c.targets[0].uri.text, "file:x");

        assert_int_equal(parse("x --log-level debug"), CONFIG_RUN); /* options may follow targets */
        assert_int_equal(o.c.log_level.common, LOG_DEBUG);
        assert_int_equal(o.c.n_targets, 1);
        assert_int_equal(parse("-- --log-level"), CONFIG_RUN);
        assert_string_equal(o.c.targets[0].uri.text, "file:--log-level");
}

TEST(tasks_with_rules)
{
        static const struct {
                const char *option;
                enum config_task task;
                bool without_files;
        } tasks[] = {
                { "--check-rules", TASK_CHECK_RULES, false },
                { "--list-rules", TASK_LIST_RULES, true },
                { "--explain-rules", TASK_EXPLAIN_RULES, true },
        };
        char line[64];

        for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
                snprintf(line, sizeof(line), "%s a.yaml b=c.yaml", tasks[i].option);
                assert_int_equal(parse(line), CONFIG_RUN);
                assert_int_equal(o.c.task, tasks[i].task);
                assert_int_equal(o.c.n_targets, 0); /* the words are files */
                assert_int_equal(o.c.n_rules, 2);
                assert_string_equal(o.c.rules[1], "b=c.yaml");
                if (tasks[i].without_files)
                        assert_int_equal(parse(tasks[i].option), CONFIG_RUN);
                else
                        refused(tasks[i].option, "FILE");
        }
}

TEST(texts_that_are_asked_for)
{
        assert_int_equal(parse("--version"), CONFIG_DONE);
        assert_string_equal(o.out, "heapwatchd " HEAPWATCH_VERSION "\n");
        assert_int_equal(parse("-V nonsense:x"), CONFIG_DONE);
        assert_int_equal(parse("--help"), CONFIG_DONE);
        assert_non_null(strstr(o.out, "usage: heapwatchd"));
        static const char *const named[] = { "--config",     "--publish",     "--request",    "--show-arguments",
                                             "--resolution", "--leak-after",  "--limit",      "--rules",
                                             "--log-level",  "--check-rules", "--list-rules", "--print-config" };
        for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
                if (!strstr(o.out, named[i]))
                        fail_msg("--help does not name %s", named[i]);
}

/* ----------------------------------------------------------------- mistakes */

TEST(mistakes)
{
        char line[2048];
        int n;

        refused("--nonsense", "nonsense");
        refused("--publish", "--publish");
        refused("--show-arguments=yes", "show-arguments");
        refused("--log-level loud", "loud");
        refused("--log-level info,sauce=debug", "source");
        refused("--resolution 1", "--resolution");
        refused("--resolution 99ms", "--resolution");
        refused("--resolution 2h", "--resolution");
        refused("--leak-after soon", "--leak-after");
        refused("--limit 2XiB", "--limit");
        refused("--limit -1", "--limit");
        refused("--publish ipc:///x/p", "--request");
        refused("--request ipc:///x/r", "--publish");
        refused("gopher:x", "gopher");
        refused("a=", "expected a path");
        refused("-x=/y", "");
        refused("a=/x a=/y", "'a'");
        refused("/x/run.eventlog /y/run.eventlog", "'run'");
        refused("--config /nowhere/heapwatchd.yaml", "/nowhere/heapwatchd.yaml");
        n = snprintf(line, sizeof(line), "--publish ");
        memset(line + n, 'x', 1000);
        line[n + 1000] = '\0';
        refused(line, "--publish");
}

TEST(no_more_than_the_limits)
{
        static char *argv[LIMIT_TARGETS + 3], names[LIMIT_TARGETS + 1][16];

        argv[0] = (char *)"heapwatchd";
        for (unsigned i = 0; i <= LIMIT_TARGETS; i++) {
                snprintf(names[i], sizeof(names[i]), "t%u=/x", i);
                argv[1 + i] = names[i];
        }
        parse_words(LIMIT_TARGETS + 1, argv);
        assert_int_equal(o.result, CONFIG_RUN);
        assert_int_equal(o.c.n_targets, LIMIT_TARGETS);
        parse_words(LIMIT_TARGETS + 2, argv);
        assert_int_equal(o.result, CONFIG_BAD);
        assert_non_null(strstr(o.err, "1000 targets"));

        argv[1] = (char *)"--list-rules";
        parse_words(2 + CONFIG_RULES_MAX, argv);
        assert_int_equal(o.result, CONFIG_RUN);
        assert_int_equal(o.c.n_rules, CONFIG_RULES_MAX);
        parse_words(3 + CONFIG_RULES_MAX, argv);
        assert_int_equal(o.result, CONFIG_BAD);
}

/* ------------------------------------------------------------------ with a file */

TEST(the_command_line_wins)
{
        char path[] = "/tmp/hw-config-XXXXXX", line[512];
        static const char text[] =
                "publish: ipc:///f/p\nrequest: ipc:///f/r\nlog_level: debug\n"
                "trend:\n  resolution: 2s\n  leak_after: 20m\n  limit: 1GiB\n"
                "rules: [f.yaml]\ntargets:\n  - name: f\n    uri: /f\n";
        int fd = mkstemp(path);

        assert_true(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1 && close(fd) == 0);
        snprintf(line, sizeof(line), "-c %s", path);
        assert_int_equal(parse(line), CONFIG_RUN);
        assert_string_equal(o.c.publish_endpoint, "ipc:///f/p");
        assert_int_equal(o.c.log_level.common, LOG_DEBUG);
        assert_true(o.c.trend.resolution_ns == 2 * S && o.c.trend.leak_after_ns == 1200 * S);
        assert_true(o.c.trend.limit_bytes == GIB);
        assert_string_equal(o.c.rules[0], "f.yaml");
        assert_string_equal(o.c.targets[0].name, "f");

        snprintf(line, sizeof(line),
                 "-c %s --publish ipc:///o/p --request ipc:///o/r --log-level info --limit 2GiB --rules o.yaml o=/o",
                 path);
        assert_int_equal(parse(line), CONFIG_RUN);
        assert_string_equal(o.c.publish_endpoint, "ipc:///o/p");
        assert_string_equal(o.c.request_endpoint, "ipc:///o/r");
        assert_int_equal(o.c.log_level.common, LOG_INFO); /* what is given is not the same as what holds anyway */
        assert_true(o.c.trend.limit_bytes == 2 * GIB && o.c.trend.resolution_ns == 2 * S);
        assert_int_equal(o.c.n_rules, 2); /* of lists both hold */
        assert_int_equal(o.c.n_targets, 2);
        snprintf(line, sizeof(line), "-c %s f=/o", path);
        refused(line, "'f'");

        snprintf(line, sizeof(line), "-c %s --print-config", path);
        assert_int_equal(parse(line), CONFIG_DONE);
        static const char *const shown[] = { "publish: \"ipc:///f/p\"", "request: \"ipc:///f/r\"",
                                             "log_level: \"debug\"",    "resolution: 2000ms",
                                             "limit: 1073741824",       "  - \"f.yaml\"",
                                             "  - name: \"f\"",         "uri: \"file:/f\"" };
        for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
                if (!strstr(o.out, shown[i]))
                        fail_msg("--print-config does not show %s: %s", shown[i], o.out);

        fd = open(path, O_WRONLY | O_TRUNC); /* what is printed can be read again */
        assert_true(fd >= 0 && write(fd, o.out, strlen(o.out)) == (ssize_t)strlen(o.out) && close(fd) == 0);
        snprintf(line, sizeof(line), "-c %s", path);
        assert_int_equal(parse(line), CONFIG_RUN);
        assert_string_equal(o.c.publish_endpoint, "ipc:///f/p");
        assert_true(o.c.trend.limit_bytes == GIB);
        unlink(path);
}

static int tear_down(void **state)
{
        config_done(&o.c);
        config_done(&o.c); /* nothing to free */
        return 0;
}

TEST_GROUP(set_up, tear_down)
