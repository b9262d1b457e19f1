/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config_file.c - heapwatchd.yaml: what each key sets, what stays, and where each mistake is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "daemon/watch/config/config.h"

static char directory[] = "/tmp/heapwatch-config-XXXXXX";
static char path[64];

/* What config_read_file made of a text, and what it printed on stderr. */
struct outcome {
        struct config c;
        bool good;
        char printed[16384];
};

static void read_path(struct outcome *o, const char *file)
{
        FILE *kept = tmpfile();
        int err = dup(STDERR_FILENO);

        assert_non_null(kept);
        fflush(stderr);
        dup2(fileno(kept), STDERR_FILENO);
        o->good = config_read_file(&o->c, file);
        fflush(stderr);
        dup2(err, STDERR_FILENO);
        close(err);
        rewind(kept);
        size_t n = fread(o->printed, 1, sizeof(o->printed) - 1, kept);
        o->printed[n] = '\0';
        fclose(kept);
        assert_int_equal(o->good, n == 0);
}

static void write_file(const char *text, size_t n)
{
        FILE *to = fopen(path, "w");

        assert_non_null(to);
        assert_int_equal(fwrite(text, 1, n, to), n);
        assert_int_equal(fclose(to), 0);
}

static void read_text(struct outcome *o, const char *text)
{
        write_file(text, strlen(text));
        read_path(o, path);
}

TEST(every_key)
{
        static const char text[] =
                "publish: ipc:///x/p\n"
                "request: \"ipc:///x/r\"\n"
                "log_level: debug\n"
                "show_arguments: true\n"
                "trend: {resolution: 500ms, leak_after: 30m, limit: 2GiB}\n"
                "keep_ended: {targets: 3, time: 12h}\n"
                "census_memory: 512MiB\n"
                "sources: {allow: [/srv/*/x.eventlog, \"unix-listen:/run/heapwatch/*\"]}\n"
                "rules: [/etc/a.yaml, /etc/b.yaml]\n"
                "targets:\n"
                "  - name: api\n"
                "    uri: /var/log/x.eventlog\n"
                "  - uri: unix:/run/worker.sock\n";
        struct outcome o = { .good = false };

        read_text(&o, text);
        assert_true(o.good);
        assert_string_equal(o.c.publish_endpoint, "ipc:///x/p");
        assert_int_equal(o.c.keep_ended.most, 3);
        assert_int_equal(o.c.census_memory_bytes, 512 << 20);
        assert_int_equal(o.c.allow.n, 2);
        assert_string_equal(o.c.allow.patterns[0], "file:/srv/*/x.eventlog");
        assert_int_equal(o.c.keep_ended.for_ns, 12 * UINT64_C(3600000000000));
        assert_string_equal(o.c.request_endpoint, "ipc:///x/r");
        assert_int_equal(o.c.log_level.common, LOG_DEBUG);
        assert_true(o.c.show_arguments);
        assert_true(o.c.trend.resolution_ns == 500000000 && o.c.trend.leak_after_ns == UINT64_C(1800000000000));
        assert_true(o.c.trend.limit_bytes == UINT64_C(2) << 30);
        assert_int_equal(o.c.n_rules, 2);
        assert_string_equal(o.c.rules[1], "/etc/b.yaml");
        assert_int_equal(o.c.n_targets, 2);
        assert_string_equal(o.c.targets[0].name, "api");
        assert_string_equal(o.c.targets[0].uri.text, "file:/var/log/x.eventlog");
        assert_string_equal(o.c.targets[1].name, "worker.sock");
        config_done(&o.c);
}

TEST(the_command_line_wins)
{
        struct outcome o = { .good = false };
        struct error error;

        assert_true(setting_give(&o.c, "publish", "ipc:///mine", &error));
        assert_true(setting_give(&o.c, "limit", "5B", &error));
        read_text(&o, "publish: ipc:///x/p\ntrend:\n  limit: 1GiB\n  resolution: 1s\n");
        assert_true(o.good);
        assert_string_equal(o.c.publish_endpoint, "ipc:///mine");
        assert_true(o.c.trend.limit_bytes == 5 && o.c.trend.resolution_ns == 1000000000);
        config_done(&o.c);
}

TEST(each_mistake_has_its_place)
{
        static const struct {
                const char *text, *printed;
        } cases[] = {
                { "", ": the file is empty" },
                { "# nothing\n", ": the file is empty" },
                { "[]\n", ":1:1: expected settings" },
                { "log_levle: info\n", ":1:1: unknown key 'log_levle'; did you mean 'log_level'?" },
                { "zzz: 1\n", ":1:1: unknown key 'zzz'; expected publish, request" },
                { "log_level: info\nlog_level: debug\n", ":2:1: duplicate key 'log_level'" },
                { "log_level: loud\n", ":1:12: log_level: 'loud'; expected error, warning, info or debug" },
                { "log_level:\n", "expected error, warning, info or debug, found an empty text" },
                { "log_level: [info]\n", ":1:12: expected error, warning, info or debug, found a list" },
                { "publish: ''\n", ":1:10: expected an endpoint, found an empty text" },
                { "show_arguments: 12 monkeys\n", ":1:17: '12 monkeys'; expected true or false" },
                { "show_arguments: yes\n", ":1:17: 'yes'; expected true or false" },
                { "trend: 1m\n", ":1:8: expected resolution, leak_after and limit, found a text" },
                { "trend:\n  resolutoin: 1m\n", ":2:3: unknown key 'resolutoin'; did you mean 'resolution'?" },
                { "trend:\n  resolution: 1ms\n", ":2:15: " },
                { "trend:\n  limit: many\n", ":2:10: " },
                { "rules: a.yaml\n", ":1:8: expected a list of rule files, found a text" },
                { "rules:\n  - {a: b}\n", ":2:5: expected a rule file, found a mapping" },
                { "targets:\n", "expected a list of targets, found nothing" },
                { "targets: api\n", ":1:10: expected a list of targets, found a text" },
                { "targets:\n  - /x\n",
                  ":2:5: expected a target: uri and, optionally, name, record and labels, found a text" },
                { "targets:\n  - name: a\n    url: /x\n", ":3:5: unknown key 'url'; did you mean 'uri'?" },
                { "targets:\n  - name: a\n", ":2:5: this target has no uri" },
                { "targets:\n  - uri: gopher:x\n", ":2:10: " },
                { "targets:\n  - name: a b\n    uri: /x\n", ":2:11: 'a b' is not a valid target name" },
                { "targets:\n  - name: 'a\\0'\n    uri: \"/x\\0y\"\n", "contains a NUL byte" },
                { "targets:\n  - uri: /x\n    labels: [a=b]\n",
                  ":3:13: expected labels, e.g. 'version: 1.4.2', found" },
                { "targets:\n  - uri: /x\n    labels: {a: {b: c}}\n", ":3:17: expected the value of a label, found" },
                { "targets:\n  - uri: /x\n    labels:\n      a:\n", ":4:7: label 'a=': expected NAME=VALUE" },
                { "targets:\n  - uri: /x\n    labels: {a: b, c d: e}\n", ":3:20: label 'c d=e': expected NAME=VALUE" },
                { "targets:\n  - uri: /x\n    labels: {a: b, a: c}\n", ":3:20: label 'a' is given twice" },
                { "targets:\n  - uri: /x\n    labels: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: "
                  "1, "
                  "l: 1, m: 1, n: 1, o: 1, p: 1, q: 1, r: 1}\n",
                  "17 labels: at most 16 can be given" },
                { "targets: [\n", "not valid YAML" },
                { "log_level: info\n---\nlog_level: debug\n", ":2:1: a second document begins" },
                { "\tlog_level: info\n", "is it a tab?" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct outcome o = { .good = true };

                read_text(&o, cases[i].text);
                if (o.good || !strstr(o.printed, cases[i].printed) || strncmp(o.printed, "heapwatchd: /tmp/", 17) != 0)
                        fail_msg("%sprinted: %s\nexpected: %s", cases[i].text, o.printed, cases[i].printed);
                config_done(&o.c);
        }
}

TEST(all_mistakes_at_once)
{
        struct outcome o = { .good = true };

        read_text(&o, "log_level: loud\nshow_arguments: 3\ntargets:\n  - uri: gopher:x\n  - uri: tcp:x\n");
        assert_non_null(strstr(o.printed, ":1:12: "));
        assert_non_null(strstr(o.printed, ":2:17: "));
        assert_non_null(strstr(o.printed, ":4:10: "));
        assert_non_null(strstr(o.printed, ":5:10: "));
        config_done(&o.c);
}

/* libyaml's work grows with the square of each of these. */
TEST(hostile_files_are_refused_early)
{
        static const struct {
                const char *repeated, *printed;
        } cases[] = {
                { "[", "nested more than 64 levels deep" },  { "{a: ", "nested more than 64 levels deep" },
                { "- ", "nested more than 64 levels deep" }, { "? ", "nested more than 64 levels deep" },
                { "- &a x\n", "more than 256 anchors" },     { "%TAG !a! tag:a\n", "lines begin with %" },
        };
        char *text = malloc(900001);

        assert_non_null(text);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                size_t n = 0, step = strlen(cases[i].repeated);
                struct outcome o = { .good = true };

                for (; n + step <= 900000; n += step)
                        memcpy(text + n, cases[i].repeated, step);
                text[n] = '\0';
                read_text(&o, text);
                if (!strstr(o.printed, cases[i].printed))
                        fail_msg("%s: %s", cases[i].repeated, o.printed);
                config_done(&o.c);
        }
        free(text);
}

TEST(what_cannot_be_read)
{
        struct outcome o = { .good = true };
        char *large = malloc((1 << 20) + 1);

        assert_non_null(large);
        read_path(&o, "/does/not/exist");
        assert_non_null(strstr(o.printed, "/does/not/exist: cannot be read: No such file"));
        read_path(&o, directory);
        assert_non_null(strstr(o.printed, "directory"));
        memset(large, '#', (1 << 20) + 1);
        write_file(large, (1 << 20) + 1);
        read_path(&o, path);
        assert_non_null(strstr(o.printed, "larger than 1 MiB"));
        free(large);
        write_file("a: \0", 4);
        read_path(&o, path);
        assert_non_null(strstr(o.printed, "contains a NUL byte"));
}

/* As `--config <(envsubst <template)` does. */
TEST(a_pipe_is_read_to_its_end)
{
        struct outcome o = { .good = false };
        char fifo[80];

        snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
        assert_int_equal(mkfifo(fifo, 0600), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                FILE *to = fopen(fifo, "w");
                bool good = to && fputs("targets:\n", to) >= 0 && fflush(to) == 0 && fputs("  - uri: /x\n", to) >= 0;
                _exit(good && fclose(to) == 0 ? 0 : 1);
        }
        read_path(&o, fifo);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(o.good);
        assert_int_equal(o.c.n_targets, 1);
        config_done(&o.c);
        unlink(fifo);
}

static int begin_tests(void **state)
{
        return mkdtemp(directory) && snprintf(path, sizeof(path), "%s/c.yaml", directory) > 0 ? 0 : -1;
}

static int end_tests(void **state)
{
        unlink(path);
        return rmdir(directory);
}

TEST_GROUP(begin_tests, end_tests)
