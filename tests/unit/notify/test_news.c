/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon writes about an alert, as it is read: actions, limits, silence; and what is refused. */
#include "tests/unit/notify/support.h"

#include "client/out/notify/dispatcher.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

/* A line about a made-up alert, with these members too. */
static json_t *line(const char *more)
{
        struct alert_event *e = made_up_event(FIRING);
        json_t *root = json_loads(more, 0, NULL);

        assert_non_null(root);
        assert_int_equal(json_object_set(root, "alert", e->alert), 0);
        alert_event_unref(&e);
        return root;
}

TEST(all_of_it_is_read)
{
        json_t *root =
                line("{\"firedNs\": 5, \"silence\": {\"untilNs\": 1700000000000000000, \"why\": \"deploy\"},"
                     " \"limits\": {\"count\": 3, \"perAlert\": 2, \"windowNs\": 60000000000},"
                     " \"do\": [{\"kind\": \"log\"}, {\"kind\": \"exec\", \"argv\": [\"/bin/x\", \"-v\"],"
                     " \"timeoutNs\": 7000000000, \"attempts\": 2, \"firingOnly\": true},"
                     " {\"kind\": \"webhook\", \"url\": \"http://h/x\", \"bearerFile\": \"/t\"}]}");
        struct news news;
        struct error error;

        assert_true(news_read(&news, root, &error));
        assert_int_equal(news.event->fired_wall_ns, 5);
        assert_true(news.event->ended_ns == UNKNOWN_U64 && news.event->fingerprint == 0x00c0ffee00c0ffee);
        assert_string_equal(news.silenced, "until 2023-11-14T22:13:20.000Z: deploy");
        assert_int_equal(action_plan_limits(news.plan)->count, 3);
        assert_int_equal(action_plan_steps(news.plan), 3);
        const struct action_step *s = action_plan_step(news.plan, 1);
        assert_string_equal(s->argv[1], "-v");
        assert_null(s->argv[2]);
        assert_true(s->firing_only && s->attempts == 2 && s->timeout_ns == 7000000000u);
        assert_string_equal(action_plan_step(news.plan, 2)->bearer_file, "/t");
        news_done(&news);
        json_decref(root);
        root = line("{\"silence\": {\"why\": \"\"}}");
        assert_true(news_read(&news, root, &error));
        assert_true(news.event->fired_wall_ns == UNKNOWN_U64);
        assert_string_equal(news.silenced, "until it is ended");
        assert_int_equal(action_plan_steps(news.plan), 0);
        news_done(&news);
        json_decref(root);
}

TEST(mistakes_are_refused)
{
        static const char *const cases[][2] = {
                { "{\"do\": [{\"kind\": \"telepathy\"}]}", "do: an action of a kind that is not known here" },
                { "{\"do\": [7]}", "do: an action of a kind that is not known here" },
                { "{\"do\": [{\"kind\": \"exec\", \"argv\": [\"ls\"]}]}",
                  "exec: expected the program's absolute path first (there is no shell and no search path)" },
                { "{\"do\": [{\"kind\": \"exec\", \"argv\": [3]}]}",
                  "exec: expected a list: the program and its arguments" },
                { "{\"limits\": {\"count\": 4000}}", "limits: count, per_alert: expected 1 to 1000" },
        };
        struct news news;
        struct error error;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                json_t *root = line(cases[i][0]);
                assert_false(news_read(&news, root, &error));
                assert_string_equal(error.text, cases[i][1]);
                news_done(&news);
                json_decref(root);
        }
        static const char *const needed[] = { "status", "alert", "target", "severity", "labels", "fingerprint" };
        for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
                json_t *root = line("{}");
                assert_int_equal(json_object_del(json_object_get(root, "alert"), needed[i]), 0);
                assert_false(news_read(&news, root, &error));
                news_done(&news);
                json_decref(root);
        }
}
