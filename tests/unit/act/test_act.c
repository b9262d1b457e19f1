/* SPDX-License-Identifier: BSD-3-Clause */
/* All of it together, with the worker's thread: orders, results, the state file over restarts. */
#include "tests/unit/act/http_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/act/act.h"
#include "daemon/act/file.h"

static struct event_base *base;
static struct act *act;
static char directory[64], path[128], broken[160];
static unsigned changed;

static void on_changed(void *ctx, const struct notice *n)
{
        (void)ctx;
        assert_string_equal(n->target, "api-1");
        changed++;
}

static void start(void)
{
        const struct act_options options = {
                .base = base, .state_path = path, .changed = on_changed, .retry_ns = 1000000u
        };

        assert_non_null(act = act_new(&options));
}

static int set_up(void **state)
{
        (void)state;
        changed = 0;
        base = event_base_new();
        snprintf(directory, sizeof(directory), "/tmp/hw-act-XXXXXX");
        if (!mkdtemp(directory))
                return -1;
        snprintf(path, sizeof(path), "%s/a/b/state.json", directory);
        snprintf(broken, sizeof(broken), "%s.broken", path);
        start();
        return 0;
}

static int tear_down(void **state)
{
        char command[128];

        (void)state;
        act_destroy(&act);
        event_base_free(base);
        unlink(path);
        unlink(broken);
        snprintf(command, sizeof(command), "%s/a/b", directory);
        rmdir(command);
        command[strlen(command) - 2] = '\0';
        rmdir(command);
        return rmdir(directory);
}

static void make_silence(const char *rule)
{
        struct timespec now;
        struct silence s = { .target = "*", .why = "because" };
        char error[128];

        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(s.rule, sizeof(s.rule), "%s", rule);
        s.until_wall_ns = ((uint64_t)now.tv_sec + 3600) * 1000000000u;
        if (!act_silence(act, &s, error, sizeof(error)))
                fail_msg("%s", error);
}

static struct act_plan *plan_of(struct act_step step)
{
        struct act_plan *plan = act_plan_new();
        char error[256];

        if (!act_plan_add(plan, &step, error, sizeof(error)))
                fail_msg("%s", error);
        return plan;
}

static void fire(struct act_plan *plan, unsigned fingerprint, enum notice_state state)
{
        struct notice *n = made_up_notice(state);
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        n->fingerprint = fingerprint;
        n->wall_ns = (uint64_t)now.tv_sec * 1000000000u;
        act_take(act, n, plan);
        free(n);
}

static void results_come_back(void **state)
{
        struct act_plan *plan = plan_of((struct act_step){
                .kind = ACT_EXEC, .argv = (const char *const[]){ "/bin/sh", "-c", "echo it works", NULL } });
        struct act_stats stats;
        size_t n;

        (void)state;
        fire(plan, 1, NOTICE_FIRING);
        run_until(base, &changed, 1);
        const struct act_report *r = act_results(act, 1, &n);
        assert_int_equal(n, 1);
        assert_int_equal(r->outcome, ACT_DONE);
        assert_int_equal(r->attempts, 1);
        assert_string_equal(r->detail, "exit status 0; it said: it works");
        fire(plan, 1, NOTICE_RESOLVED);
        run_until(base, &changed, 2);
        assert_int_equal(act_results(act, 1, &n)->state, NOTICE_RESOLVED);
        act_stats(act, &stats);
        assert_int_equal(stats.done, 2);
        assert_int_equal(stats.desk.acted, 1);
        act_plan_unref(&plan);
}

static void silences_outlive_a_restart(void **state)
{
        struct stat st;

        (void)state;
        make_silence("leak");
        make_silence("gc_*");
        assert_null(act_not_kept(act));
        assert_string_equal(act_silence_of(act, "leak", "api-1")->why, "because");
        act_destroy(&act);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        start();
        assert_int_equal(act_silences(act)->n, 2);
        assert_non_null(act_silence_of(act, "gc_pause", "any"));
        assert_int_equal(act_unsilence(act, 0, "gc_*", "*"), 1);
        act_destroy(&act);
        start();
        assert_int_equal(act_silences(act)->n, 1);
}

static void a_broken_file_is_set_aside(void **state)
{
        static const char text[] = "{\"version\": 1, \"silences\": [{\"id\": ";
        char *kept;
        size_t size;

        (void)state;
        make_silence("leak");
        act_destroy(&act);
        assert_int_equal(file_write(path, text, strlen(text)), 0);
        start();
        assert_int_equal(act_silences(act)->n, 0);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(file_read(broken, 1000, &kept, &size), 0);
        assert_string_equal(kept, text);
        free(kept);
        make_silence("leak"); /* goes on as if nothing had been */
        act_destroy(&act);
        start();
        assert_int_equal(act_silences(act)->n, 1);

        act_destroy(&act);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/etc/passwd", path), 0); /* a trap: neither read nor written through */
        start();
        assert_int_equal(act_silences(act)->n, 0);
        assert_int_equal(access(path, F_OK), -1);
}

static void what_cannot_be_kept_is_said(void **state)
{
        char error[128];
        struct timeval step = { .tv_usec = 20000 };

        (void)state;
        act_destroy(&act);
        snprintf(error, sizeof(error), "%s/a", directory);
        int fd = open(error, O_CREAT | O_WRONLY, 0600); /* a file where a directory should be */
        assert_true(fd >= 0);
        close(fd);
        start();
        make_silence("leak");
        for (uint64_t end = clock_mono_ns() + 120000000000u; !act_not_kept(act);) {
                assert_true(clock_mono_ns() < end);
                event_base_loopexit(base, &step);
                event_base_loop(base, EVLOOP_ONCE);
        }
        assert_non_null(strstr(act_not_kept(act), "Not a directory"));
        assert_int_equal(act_silences(act)->n, 1);
        unlink(error);
}

static void it_ends_while_actions_hang(void **state)
{
        struct act_plan *hang = plan_of(
                (struct act_step){ .kind = ACT_EXEC, .argv = (const char *const[]){ "/bin/sleep", "600", NULL } });
        struct server s;
        char url[64];

        (void)state;
        server_start(&s, base, NULL);
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s.port);
        struct act_plan *slow = plan_of((struct act_step){ .kind = ACT_WEBHOOK, .url = url });
        for (unsigned i = 0; i < 100; i++)
                fire(i % 2 ? hang : slow, i, NOTICE_FIRING);
        run_until(base, &s.requests, 3);
        act_plan_unref(&hang);
        act_plan_unref(&slow);
        server_stop(&s);
        act_destroy(&act);
        start();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(results_come_back, set_up, tear_down),
                cmocka_unit_test_setup_teardown(silences_outlive_a_restart, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_broken_file_is_set_aside, set_up, tear_down),
                cmocka_unit_test_setup_teardown(what_cannot_be_kept_is_said, set_up, tear_down),
                cmocka_unit_test_setup_teardown(it_ends_while_actions_hang, set_up, tear_down),
        };

        signal(SIGPIPE, SIG_IGN);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
