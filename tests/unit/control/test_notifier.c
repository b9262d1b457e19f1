/* SPDX-License-Identifier: BSD-3-Clause */
/* The notifier as a child: what it is told, what replaces it, and that nobody waits for one that does not read. */
#include <errno.h>
#include <event2/event.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/watch/control/notifier.h"
#include "daemon/log.h"
#include "daemon/judge/rules/rule.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/whole_file.h"
#include "proto/wire/action_plan.h"
#include "tests/unit/valgrind.h"

#define DEADLINE_NS (UINT64_C(60) * 1000000000)
#define FIRED       UINT64_C(1700000000000000000)

static struct event_base *base;
static struct silence_store *silences;
static struct notifier *notifier;
static struct alert_hooks hooks;
static struct action_plan *plan;
static struct rule rule;
static struct alert alerts[0x2000];
static char directory[64], sentence[2001];
static Hw__DaemonState state_now;

static char *in_directory(char out[128], const char *name)
{
        (void)snprintf(out, 128, "%s/%s", directory, name);
        return out;
}

/* What `heapwatch` is, for a PATH of this directory alone. */
static void install(const char *script)
{
        char path[128];
        FILE *f = fopen(in_directory(path, "heapwatch"), "we");

        assert_non_null(f);
        assert_true(fprintf(f, "#!/bin/sh\ncd %s\n%s\n", directory, script) > 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(chmod(path, 0700), 0);
}

static int set_up(void **state)
{
        const struct stamp at = { 5, FIRED }, never = { UNKNOWN_U64, UNKNOWN_U64 };
        struct error error;

        (void)snprintf(directory, sizeof(directory), "/tmp/hw-child-XXXXXX");
        if (!mkdtemp(directory) || setenv("PATH", directory, 1) != 0)
                return -1;
        base = event_base_new();
        silences = silence_store_new(base, NULL);
        notifier = notifier_new(&(struct notifier_options){ .base = base,
                                                            .start = true,
                                                            .silences = silences,
                                                            .publish_endpoint = "ipc:///run/p",
                                                            .log_level = "info" });
        hooks = notifier_hooks(notifier);
        plan = action_plan_new();
        assert_true(action_plan_add(plan, &(struct action_step){ .kind = ACTION_WEBHOOK, .url = "http://h/s3cret" },
                                    &error));
        rule = (struct rule){ .name = "big", .group = "test", .plan = plan };
        memset(sentence, 'x', sizeof(sentence) - 1);
        for (size_t i = 0; i < sizeof(alerts) / sizeof(*alerts); i++)
                alerts[i] = (struct alert){ .rule = &rule,
                                            .fingerprint = i + 1,
                                            .state.now = ALERT_FIRING,
                                            .active = at,
                                            .fired = at,
                                            .resolved = never,
                                            .judged = at,
                                            .sentence = sentence };
        return notifier && silences ? 0 : -1;
}

static int tear_down(void **state)
{
        static const char *const names[] = { "heapwatch", "seen", "lines" };
        char path[128];

        notifier_destroy(&notifier);
        silence_store_destroy(&silences);
        for (size_t i = 0; i < sizeof(alerts) / sizeof(*alerts); i++)
                free(alerts[i].deeds);
        event_base_free(base);
        action_plan_unref(&plan);
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                (void)unlink(in_directory(path, names[i]));
        return rmdir(directory);
}

static const Hw__Notifier *look(void)
{
        hw__daemon_state__init(&state_now);
        notifier_fill_state(notifier, &state_now);
        return state_now.notifier;
}

static void publish(struct alert *alert)
{
        struct alert_extra extra = { .silenced = false };

        hooks.extra(hooks.ctx, "t", alert, &extra);
}

static void turn(uint64_t until)
{
        const struct timespec pause = { .tv_nsec = 2000000 };

        assert_true(clock_mono_ns() < until);
        assert_int_not_equal(event_base_loop(base, EVLOOP_NONBLOCK), -1);
        (void)nanosleep(&pause, NULL);
}

/* The `at`-th line that the child has, without those that only say that the daemon lives. */
static json_t *line(unsigned at)
{
        const uint64_t until = clock_mono_ns() + DEADLINE_NS;
        char path[128], *text;
        size_t size;

        for (;; turn(until)) {
                if (whole_file_read(in_directory(path, "lines"), 1 << 20, &text, &size) < 0)
                        continue;
                unsigned n = 0;
                json_t *found = NULL;
                for (char *l = text, *end; !found && (end = strchr(l, '\n')); l = end + 1)
                        if (strncmp(l, "{}", 2) != 0 && n++ == at)
                                found = json_loadb(l, (size_t)(end - l), 0, NULL);
                free(text);
                if (found)
                        return found;
        }
}

static const char *status_of(json_t *root)
{
        return json_string_value(json_object_get(json_object_get(root, "alert"), "status"));
}

TEST_WITH(it_is_told_each_change_once, set_up, tear_down)
{
        char path[128], *text;
        size_t size;

        install("echo \"$*\" > seen; exec /bin/cat > lines");
        assert_int_equal(look()->state, HW__NOTIFIER__STATE__STATE_IDLE);
        publish(&alerts[0]);
        publish(&alerts[0]);
        json_t *first = line(0);
        assert_string_equal(status_of(first), "firing");
        assert_int_equal(json_integer_value(json_object_get(first, "firedNs")), FIRED);
        assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(first, "do"), 0), "url")),
                            "http://h/s3cret");
        assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "limits"), "count")),
                         ACTION_LIMIT_COUNT);
        json_decref(first);
        assert_int_equal(look()->state, HW__NOTIFIER__STATE__STATE_STARTING);
        alerts[0].state.now = ALERT_RESOLVED;
        alerts[0].resolved = (struct stamp){ 9, FIRED + 4 };
        publish(&alerts[0]);
        json_t *second = line(1);
        assert_string_equal(status_of(second), "resolved");
        assert_int_equal(json_integer_value(json_object_get(second, "endedNs")), FIRED + 4);
        json_decref(second);
        hooks.removed(hooks.ctx, "t", &alerts[0]); /* it was told already */
        publish(&alerts[1]);
        hooks.removed(hooks.ctx, "t", &alerts[1]); /* with its target */
        json_t *third = line(2), *fourth = line(3);
        assert_string_equal(status_of(third), "firing");
        assert_string_equal(status_of(fourth), "resolved");
        assert_string_equal(json_string_value(json_object_get(json_object_get(fourth, "alert"), "sentence")),
                            "The target was removed from the daemon.");
        json_decref(third);
        json_decref(fourth);
        assert_int_equal(whole_file_read(in_directory(path, "seen"), 1000, &text, &size), 0);
        assert_string_equal(text, "notify --connect ipc:///run/p --log-level info\n");
        free(text);

        /* It ends when its standard input does: at once, so it is not killed for being late. */
        const pid_t pid = (pid_t)look()->pid;
        notifier_stop(notifier);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(errno, ESRCH);
}

TEST_WITH(the_next_one_is_told_all_again, set_up, tear_down)
{
        const uint64_t until = clock_mono_ns() + DEADLINE_NS;

        install("exit 3");
        publish(&alerts[0]);
        while (look()->restarts < 2)
                turn(until);
        while (look()->state != HW__NOTIFIER__STATE__STATE_RESTARTING)
                turn(until);
        assert_string_equal(look()->detail, "it ended with exit status 3");
        install("exec /bin/cat > lines");
        while (look()->state == HW__NOTIFIER__STATE__STATE_RESTARTING)
                turn(until);
        publish(&alerts[0]);
        json_decref(line(0));
}

TEST_WITH(a_program_that_is_not_there_is_tried_again, set_up, tear_down)
{
        const uint64_t until = clock_mono_ns() + DEADLINE_NS;

        publish(&alerts[0]);
        while (!look()->detail)
                turn(until);
        assert_non_null(strstr(look()->detail, under_valgrind() ? "it ended with exit status 127"
                                                                : "cannot be started: No such file or directory"));
        assert_int_equal(look()->pid, 0);
        install("exec /bin/cat > lines");
        while (!look()->pid)
                turn(until);
        publish(&alerts[0]);
        json_decref(line(0));
}

/* Alerts wait in the daemon, are shown and told later; what is not true any more is never believed for long. */
TEST_WITH(one_that_does_not_read_holds_up_nobody, set_up, tear_down)
{
        const uint64_t until = clock_mono_ns() + 2 * DEADLINE_NS;
        const size_t n = sizeof(alerts) / sizeof(*alerts);
        size_t told = 0;

        install("trap '' TERM; while :; do read -r x < /dev/null; /bin/sleep 1; done");
        for (size_t i = 0; i < n; i++)
                publish(&alerts[i]);
        for (size_t i = 0; i < n; i++)
                told += alerts[i].deeds && alerts[i].deeds->told;
        assert_in_range(told, 100, NOTIFIER_QUEUE_BYTES / 2000 + 1);
        while (!look()->detail || !strstr(look()->detail, "wait to be told"))
                turn(until);
        const pid_t pid = (pid_t)look()->pid;
        assert_int_equal(look()->state, HW__NOTIFIER__STATE__STATE_STARTING);

        size_t gone = 0;
        while (gone < n && state_now.actions_dropped == 0) {
                hooks.removed(hooks.ctx, "t", &alerts[gone++]);
                (void)look();
        }
        assert_true(gone > told && gone < n); /* four times as much was kept, then it was killed */
        assert_int_equal(state_now.actions_dropped, 1);
        install("exec /bin/cat > lines");
        while (look()->pid == 0 || (pid_t)look()->pid == pid)
                turn(until);
        publish(&alerts[n - 1]);
        json_t *first = line(0);
        assert_string_equal(json_string_value(json_object_get(json_object_get(first, "alert"), "fingerprint")),
                            "0000000000002000");
        json_decref(first);
}

static int begin_tests(void **state)
{
        log_set_level(LOG_ERROR);
        (void)signal(SIGPIPE, SIG_IGN); /* as the daemon does */
        return 0;
}

TEST_GROUP(begin_tests, NULL)
