/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps run in order; failed, retried, hanging and too many ones are all reported, and none overtakes another. */
#include "tests/unit/http/http_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/out/notify/executor.h"
#include "client/cli/report.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

#define SEEN_MAX 4096u

struct seen {
        unsigned n, over;
        struct action_report reports[SEEN_MAX];
};

static struct event_base *base;
static struct executor *executor;
static struct action_plan *plan;
static struct server s; /* of a test that starts it */
static struct seen seen;

static void on_report(void *ctx, const struct action_report *report)
{
        assert_true(seen.n < SEEN_MAX);
        seen.reports[seen.n++] = *report;
}

static void on_over(void *ctx, const struct alert_event *event)
{
        assert_string_equal(alert_event_text(event, "target"), "api-1");
        seen.over++;
}

static int set_up(void **state)
{
        struct executor_options options = { .report = on_report, .over = on_over, .retry_ns = 1000000u };

        memset(&seen, 0, sizeof(seen));
        options.base = base = event_base_new();
        executor = executor_new(&options);
        plan = action_plan_new();
        s = (struct server){ .requests = 0 };
        return executor && plan ? 0 : -1;
}

static int tear_down(void **state)
{
        action_plan_unref(&plan);
        if (s.listener)
                server_stop(&s);
        executor_destroy(&executor);
        event_base_free(base);
        return 0;
}

static void add(struct action_plan *to, struct action_step step)
{
        struct error error;

        if (!action_plan_add(to, &step, &error))
                fail_msg("%s", error.text);
}

#define ARGV(...)     ((const char *const[]){ __VA_ARGS__, NULL })
#define SHELL(script) ARGV("/bin/sh", "-c", script)

static void take_alert(bool resolved, uint64_t fingerprint, struct action_plan *steps, bool known)
{
        struct alert_event *n = made_up_event(resolved);

        n->fingerprint = fingerprint;
        executor_add(executor, n, steps, known);
        alert_event_unref(&n);
}

static void submit(bool resolved, uint64_t fingerprint, struct action_plan *steps)
{
        take_alert(resolved, fingerprint, steps, false);
}

static char *url_of(const struct server *of, const char *path)
{
        static char url[128];

        snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", of->port, path);
        return url;
}

/* For longer than a round. Returns how many requests the server has had. */
static unsigned nothing_comes(void)
{
        const unsigned before = s.requests;
        struct timeval more = { .tv_sec = 1, .tv_usec = 300000 };

        event_base_loopexit(base, &more);
        event_base_dispatch(base);
        assert_int_equal(s.requests, before);
        return before;
}

TEST_WITH(steps_go_in_order_and_all, set_up, tear_down)
{
        server_start(&s, base, HTTP_OK);
        add(plan, (struct action_step){ .kind = ACTION_PUBLISH });
        add(plan, (struct action_step){ .kind = ACTION_LOG });
        add(plan, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL("echo out; exit 3") });
        add(plan, (struct action_step){ .kind = ACTION_WEBHOOK, .url = url_of(&s, "/hook") });
        add(plan, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL("true"), .firing_only = true });
        submit(FIRING, 1, plan);
        submit(RESOLVED, 1, plan);
        run_until(base, &seen.n, 7);

        static const uint32_t step[] = { 1, 2, 3, 4, 1, 2, 3 };
        for (unsigned i = 0; i < 7; i++) {
                assert_int_equal(seen.reports[i].step, step[i]);
                assert_int_equal(seen.reports[i].resolved, i < 4 ? FIRING : RESOLVED);
                assert_int_equal(seen.reports[i].outcome, step[i] == 2 ? OUTCOME_FAILED : OUTCOME_DONE);
        }
        assert_string_equal(seen.reports[1].detail, "exit status 3; it said: out");
        assert_int_equal(seen.reports[1].attempts, 1);
        assert_non_null(strstr(s.seen, "\"status\":\"resolved\""));
        assert_non_null(strstr(s.seen, "\"version\":\"4\""));
        assert_int_equal(s.requests, 2);
        run_until(base, &seen.over, 2);
}

TEST_WITH(failing_servers_are_tried_again, set_up, tear_down)
{
        struct server wrong;

        server_start(&s, base, HTTP_BUSY);
        server_start(&wrong, base, HTTP_WRONG);
        add(plan, (struct action_step){ .kind = ACTION_WEBHOOK, .url = url_of(&s, "/") });
        add(plan, (struct action_step){ .kind = ACTION_WEBHOOK, .url = url_of(&wrong, "/") });
        submit(FIRING, 1, plan);
        run_until(base, &s.requests, 2);
        s.answer = HTTP_OK;
        run_until(base, &seen.n, 2);
        assert_int_equal(seen.reports[0].outcome, OUTCOME_DONE);
        assert_int_equal(seen.reports[0].attempts, 3);
        assert_int_equal(seen.reports[1].outcome, OUTCOME_FAILED); /* 400: another attempt would not help */
        assert_int_equal(seen.reports[1].attempts, 1);

        s.answer = HTTP_BUSY;
        submit(RESOLVED, 1, plan);
        run_until(base, &seen.n, 4);
        assert_int_equal(seen.reports[2].outcome, OUTCOME_FAILED);
        assert_int_equal(seen.reports[2].attempts, 3);
        assert_int_equal(s.requests, 6);
        server_stop(&wrong);
}

TEST_WITH(a_hanging_action_holds_up_its_alert_only, set_up, tear_down)
{
        struct action_plan *hang = action_plan_new(), *quick = action_plan_new();

        /* It hangs until the other alert's action is over, however long that takes. */
        char directory[] = "/tmp/hw-executor-XXXXXX", fifo[64], script[96];
        int fd;

        assert_non_null(mkdtemp(directory));
        (void)snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
        (void)snprintf(script, sizeof(script), "cat %s; exit 1", fifo);
        assert_int_equal(mkfifo(fifo, 0600), 0);
        add(hang, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL(script), .timeout_ns = 60000000000u });
        add(quick, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL("true") });
        submit(FIRING, 1, hang);
        submit(RESOLVED, 1, quick);
        submit(FIRING, 2, quick);
        run_until(base, &seen.n, 1);
        assert_int_equal(seen.reports[0].fingerprint, 2);
        while ((fd = open(fifo, O_WRONLY | O_NONBLOCK)) < 0) /* until `cat` has it open */
                event_base_loop(base, EVLOOP_NONBLOCK);
        close(fd);
        run_until(base, &seen.n, 3);
        assert_int_equal(seen.n, 3);
        assert_int_equal(seen.reports[1].fingerprint, 1);
        assert_int_equal(seen.reports[1].resolved, FIRING);
        assert_int_equal(seen.reports[1].outcome, OUTCOME_FAILED);
        assert_int_equal(seen.reports[2].resolved, RESOLVED);
        action_plan_unref(&hang);
        action_plan_unref(&quick);
        unlink(fifo);
        rmdir(directory);
}

TEST_WITH(the_queue_is_bounded, set_up, tear_down)
{
        unsigned too_many = 5, wanted = EXECUTOR_WAITING_MAX + EXECUTOR_JOBS_MAX + too_many;

        report_set_level(LOG_ERROR);
        add(plan, (struct action_step){ .kind = ACTION_PUBLISH });
        add(plan, (struct action_step){ .kind = ACTION_LOG });
        for (unsigned i = 0; i < wanted; i++) {
                struct alert_event *n = made_up_event(FIRING);
                n->fingerprint = i;
                json_object_set_new(n->alert, "severity",
                                    json_string("nritical")); /* none that we know: an ordinary line */
                executor_add(executor, n, plan, false);
                alert_event_unref(&n);
        }
        assert_int_equal(seen.n, too_many);
        assert_int_equal(seen.reports[0].outcome, OUTCOME_SKIPPED);
        assert_int_equal(seen.reports[0].step, 1);
        assert_string_equal(seen.reports[0].detail, "not done: too many wait already");
        run_until(base, &seen.n, wanted);
        assert_int_equal(seen.n, wanted);
        run_until(base, &seen.over, wanted);
        uint64_t sum = 0;
        for (unsigned i = too_many; i < wanted; i++) { /* the dropped ones are the last that came */
                assert_true(seen.reports[i].fingerprint < wanted - too_many);
                sum += seen.reports[i].fingerprint;
        }
        assert_int_equal(sum, (uint64_t)(wanted - too_many) * (wanted - too_many - 1) / 2);
        report_set_level(LOG_INFO);
}

static bool tells_of_two(const char *request)
{
        const char *first = strstr(request, "\"startsAt\"");

        return first && strstr(first + 1, "\"startsAt\"");
}

TEST_WITH(alertmanager_is_told_again_until_it_resolves, set_up, tear_down)
{
        server_start(&s, base, HTTP_OK);
        add(plan,
            (struct action_step){ .kind = ACTION_ALERTMANAGER, .url = url_of(&s, "/am/"), .resend_ns = 1000000000u });
        submit(FIRING, 1, plan);
        submit(FIRING, 2, plan);
        run_until(base, &seen.n, 2);
        assert_non_null(strstr(s.seen, "POST /am/api/v2/alerts HTTP/1.1"));
        assert_true(s.requests >= 2);
        while (!tells_of_two(s.seen)) /* both in one request */
                run_until(base, &s.requests, s.requests + 1);
        assert_int_equal(seen.n, 2);

        submit(RESOLVED, 1, plan);
        submit(RESOLVED, 2, plan);
        run_until(base, &seen.n, 4);
        nothing_comes();
}

TEST_WITH(what_was_done_before_a_restart_is_not_done_again, set_up, tear_down)
{
        server_start(&s, base, HTTP_OK);
        add(plan, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL("true") });
        add(plan, (struct action_step){ .kind = ACTION_ALERTMANAGER, .url = url_of(&s, "") });
        take_alert(FIRING, 1, plan, true);
        run_until(base, &seen.n, 1);
        assert_int_equal(seen.reports[0].kind, ACTION_ALERTMANAGER);
}

/* As the dispatcher does when an alert is silenced and when the silence ends: only the Alertmanager is notified. */
TEST_WITH(an_alert_is_resolved_on_silence_and_told_again, set_up, tear_down)
{
        server_start(&s, base, HTTP_OK);
        add(plan, (struct action_step){ .kind = ACTION_EXEC, .argv = SHELL("true") });
        add(plan, (struct action_step){ .kind = ACTION_ALERTMANAGER, .url = url_of(&s, ""), .resend_ns = 1000000000u });
        submit(FIRING, 1, plan);
        run_until(base, &seen.n, 2);
        take_alert(RESOLVED, 1, plan, true);
        run_until(base, &seen.n, 3);
        assert_int_equal(seen.reports[2].kind, ACTION_ALERTMANAGER);
        assert_non_null(strstr(s.seen, "\"endsAt\":\"2023-11-14T22:15:20.000Z\""));
        const unsigned after = nothing_comes();

        take_alert(FIRING, 1, plan, true);
        run_until(base, &seen.n, 4);
        assert_int_equal(seen.reports[3].resolved, FIRING);
        assert_null(strstr(s.seen, "\"endsAt\":\"2023"));
        run_until(base, &s.requests, after + 2); /* and again, and again */
        assert_int_equal(seen.n, 4);
}

/* The daemon is silent: it is unknown whether alerts still fire, so no receiver is sent that they do. */
TEST_WITH(nothing_is_sent_again_while_held, set_up, tear_down)
{
        server_start(&s, base, HTTP_OK);
        add(plan, (struct action_step){ .kind = ACTION_ALERTMANAGER, .url = url_of(&s, ""), .resend_ns = 1000000000u });
        submit(FIRING, 1, plan);
        run_until(base, &seen.n, 1);
        executor_hold(executor, true);
        const unsigned before = nothing_comes();
        executor_hold(executor, false);
        run_until(base, &s.requests, before + 1);
}

/* A bundle that its limits forbid is neither done nor failed. The command is the one beside this program. */
/* What is reported of a dump by a command that is `script`. */
static struct action_report dumped_by(const char *script)
{
        char program[512], file[1024];
        const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

        assert_true(n > 0);
        program[n] = '\0';
        *strrchr(program, '/') = '\0';
        snprintf(file, sizeof(file), "%s/heapwatch", program);
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fprintf(f, "#!/bin/sh\n%s\n", script);
        fclose(f);
        assert_int_equal(chmod(file, 0700), 0);
        add(plan, (struct action_step){ .kind = ACTION_DUMP, .firing_only = true });
        submit(FIRING, 1, plan);
        run_until(base, &seen.n, 1);
        unlink(file);
        return seen.reports[0];
}

TEST_WITH(what_a_command_leaves_out_is_not_done, set_up, tear_down)
{
        const struct action_report r = dumped_by("echo 'not done: it is too soon'");

        assert_string_equal(r.detail, "not done: it is too soon");
        assert_int_equal(r.outcome, OUTCOME_SKIPPED);
        assert_int_equal(r.attempts, 0);
}

TEST_WITH(a_dump_is_reported_by_its_path, set_up, tear_down)
{
        const struct action_report r = dumped_by("echo 'no report.html: heapwatch report failed' >&2; echo /bundles/1");

        assert_string_equal(r.detail, "/bundles/1");
        assert_int_equal(r.outcome, OUTCOME_DONE);
}

TEST_WITH(it_can_end_in_the_middle_of_everything, set_up, tear_down)
{
        server_start(&s, base, NULL);
        add(plan, (struct action_step){ .kind = ACTION_ALERTMANAGER, .url = url_of(&s, "") });
        for (unsigned i = 0; i < 100; i++)
                submit(FIRING, i, plan);
        run_until(base, &s.requests, 1);
}

TEST_WITH(plans_refuse_mistakes, set_up, tear_down)
{
        static const struct {
                struct action_step step;
                const char *error;
        } cases[] = {
                { { .kind = ACTION_EXEC }, "exec: expected a list: the program and its arguments" },
                { { .kind = ACTION_WEBHOOK, .url = "ftp://x/" },
                  "webhook: expected a URL that begins with http:// or https://" },
                { { .kind = ACTION_WEBHOOK, .url = "http://u:p@h/" },
                  "webhook: the URL holds a user name or password; "
                  "put a token into a file and name it as bearer_file" },
                { { .kind = ACTION_WEBHOOK, .url = "http:///x" },
                  "webhook: the URL has no host; expected e.g. http://127.0.0.1:9093/path" },
                { { .kind = ACTION_WEBHOOK, .url = "http://h/\nX: y" },
                  "webhook: the URL is too long, or has blanks or control characters in it" },
                { { .kind = ACTION_ALERTMANAGER, .url = "http://h", .bearer_file = "token" },
                  "alertmanager: bearer_file: expected an absolute path" },
                { { .kind = ACTION_ALERTMANAGER, .url = "http://h", .firing_only = true },
                  "alertmanager: resolved: false has no meaning here: it keeps the alert until it is notified that "
                  "it is over" },
                { { .kind = ACTION_LOG, .timeout_ns = ACTION_TIMEOUT_MAX_NS + 1 },
                  "log: timeout: expected at most 5m" },
        };
        struct action_step relative = { .kind = ACTION_EXEC, .argv = ARGV("ls") };
        struct action_step of_core = { .kind = ACTION_WHY, .argv = ARGV("--core", "/x") };
        struct error error;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_false(action_plan_add(plan, &cases[i].step, &error));
                assert_string_equal(error.text, cases[i].error);
        }
        assert_false(action_plan_add(plan, &relative, &error));
        assert_string_equal(error.text,
                            "exec: expected the program's absolute path first (there is no shell and no search "
                            "path)");
        assert_false(action_plan_add(plan, &of_core, &error));
        assert_string_equal(error.text, "why: expected max_pause or memory, each with a value");
        assert_false(action_plan_has_work(plan));
        for (unsigned i = 0; i < ACTION_STEPS_MAX; i++)
                add(plan, (struct action_step){ .kind = ACTION_LOG });
        assert_false(action_plan_add(plan, &(struct action_step){ .kind = ACTION_LOG }, &error));
        assert_string_equal(error.text, "do: more than 16 actions");
        assert_true(action_plan_has_work(plan));
        for (enum action_kind k = ACTION_PUBLISH; k < ACTION_KINDS; k++)
                assert_int_equal(action_kind_parse(action_kind_name(k)), k);
        assert_int_equal(action_kind_parse("mail"), ACTION_KINDS);

        char text[64];
        assert_string_equal(
                action_step_text(text, sizeof(text),
                                 &(struct action_step){ .kind = ACTION_WEBHOOK,
                                                        .url = "https://hooks.example.org/services/T0/SECRET" }),
                "https://hooks.example.org");
}

static int begin_tests(void **state)
{
        signal(SIGPIPE, SIG_IGN);
        return 0;
}

TEST_GROUP(begin_tests, NULL)
