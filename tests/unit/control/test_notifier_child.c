/* SPDX-License-Identifier: BSD-3-Clause */
/* The notifier as a child: started with a key and these arguments, again when it ends, ended with its parent. */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/control/notifier_child.h"
#include "daemon/log.h"
#include "proto/base/clock.h"
#include "proto/base/whole_file.h"
#include "tests/unit/valgrind.h"

#define DEADLINE_NS (UINT64_C(60) * 1000000000)

static struct event_base *base;
static struct notifier_child *child;
static char directory[64];
static unsigned ended;

static void on_ended(void *ctx)
{
        assert_ptr_equal(ctx, &ended);
        ended++;
}

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
        (void)state;
        (void)snprintf(directory, sizeof(directory), "/tmp/hw-child-XXXXXX");
        if (!mkdtemp(directory) || setenv("PATH", directory, 1) != 0)
                return -1;
        ended = 0;
        base = event_base_new();
        child = notifier_child_new(&(struct notifier_child_options){ .base = base,
                                                                     .publish_endpoint = "ipc:///run/p",
                                                                     .log_level = "info",
                                                                     .ended = on_ended,
                                                                     .ctx = &ended });
        return child ? 0 : -1;
}

static int tear_down(void **state)
{
        static const char *const names[] = { "heapwatch", "seen", "seen.new" };
        char path[128];

        (void)state;
        notifier_child_destroy(&child);
        event_base_free(base);
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                (void)unlink(in_directory(path, names[i]));
        return rmdir(directory);
}

/* Runs the loop until the child has ended `n` times, or has written its file when `n` is 0. */
static void run_until(unsigned n)
{
        const uint64_t until = clock_mono_ns() + DEADLINE_NS;
        const struct timespec pause = { .tv_nsec = 2000000 };
        char path[128];

        while (n ? ended < n : access(in_directory(path, "seen"), R_OK) != 0) {
                assert_true(clock_mono_ns() < until);
                assert_int_not_equal(event_base_loop(base, EVLOOP_NONBLOCK), -1);
                (void)nanosleep(&pause, NULL);
        }
}

static void it_is_given_a_key_and_says_it(void **state)
{
        char path[128], want[128], *text;
        size_t size;

        (void)state;
        install("read -r key; echo \"$key $*\" > seen.new; /bin/mv seen.new seen; exec /bin/cat");
        assert_false(notifier_child_is_wanted(child));
        assert_int_equal(notifier_child_pid(child), 0);
        notifier_child_start(child);
        run_until(0);
        assert_int_equal(whole_file_read(in_directory(path, "seen"), 1000, &text, &size), 0);
        (void)snprintf(want, sizeof(want), "%016" PRIx64 " notify --attached --connect ipc:///run/p --log-level info\n",
                       notifier_child_key(child));
        assert_string_equal(text, want);
        free(text);
        pid_t first = notifier_child_pid(child);
        notifier_child_start(child); /* the second time: nothing */
        assert_int_equal(notifier_child_pid(child), first);
        assert_int_equal(notifier_child_restarts(child), 0);

        /* It ends when its standard input does: at once, so it is not killed for being late. */
        notifier_child_destroy(&child);
        assert_int_equal(kill(first, 0), -1);
        assert_int_equal(errno, ESRCH);
}

static void it_is_started_again(void **state)
{
        (void)state;
        install("exit 3");
        notifier_child_start(child);
        run_until(3);
        assert_string_equal(notifier_child_detail(child), "it ended with exit status 3");
        assert_true(notifier_child_restarts(child) >= 2);
        assert_int_equal(notifier_child_key(child), 0);
        install("kill -9 $$");
        unsigned before = ended;
        run_until(before + 2);
        assert_string_equal(notifier_child_detail(child), "it was ended by signal 9");
}

static void a_program_that_is_not_there_is_tried_again(void **state)
{
        (void)state;
        notifier_child_start(child);
        run_until(1);
        assert_non_null(strstr(notifier_child_detail(child), under_valgrind()
                                                                     ? "it ended with exit status 127"
                                                                     : "cannot be started: No such file or directory"));
        assert_int_equal(notifier_child_pid(child), 0);
        assert_true(notifier_child_is_wanted(child));
        install("echo > seen; exec /bin/cat");
        run_until(0);
        assert_true(notifier_child_pid(child) > 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(it_is_given_a_key_and_says_it, set_up, tear_down),
                cmocka_unit_test_setup_teardown(it_is_started_again, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_program_that_is_not_there_is_tried_again, set_up, tear_down),
        };

        log_set_level(LOG_ERROR);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
