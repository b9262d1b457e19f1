/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of /api/history: what is accepted, what is refused and how. */
#include <stdio.h>
#include <string.h>
#include "tests/unit/test.h"

#include "client/web/history_query.h"
#include "tests/unit/state/apply.h"
#include "proto/base/error.h"

static bool parse(const char *query, struct history_query *q, struct error *error)
{
        error->text[0] = '\0';
        return history_query_parse(q, query, error);
}

TEST(understood)
{
        struct history_query q;
        struct error error;

        assert_true(
                parse("target=api-1&target=2:x&series=live,rss&series=gc_pause&band=3&band=4,5&bands=top20&"
                      "from=-3600&to=12.5&step=10",
                      &q, &error));
        assert_int_equal(q.targets.n, 2);
        assert_true(q.targets.targets[0].any_daemon);
        assert_int_equal(q.targets.targets[1].daemon, 2);
        assert_string_equal(q.targets.targets[1].name, "x");
        assert_int_equal(q.n_series, 3);
        assert_int_equal(q.n_bands, 3);
        assert_int_equal(q.bands[2], 5);
        assert_int_equal(q.top, 20);
        assert_true(q.has_from && q.has_to && q.from_s == -3600 && q.to_s == 12.5 && q.step_s == 10);
}

TEST(refused)
{
        static const char *const bad[] = {
                "",
                "series=live",
                "target=api",
                "target=a/b&series=live",
                "target=:x&series=live",
                "target=999999:x&series=live",
                "target=-1:x&series=live",
                "target=1x:x&series=live",
                "target=x&series=",
                "target=x&series=lve",
                "target=x&series=live,",
                "target=x&band=-1",
                "target=x&band=99999999",
                "target=x&band=1e3",
                "target=x&bands=20",
                "target=x&bands=top0",
                "target=x&bands=top201",
                "target=x&bands=top-1",
                "target=x&series=live&from=nan",
                "target=x&series=live&from=inf",
                "target=x&series=live&from=1e300",
                "target=x&series=live&to=-1",
                "target=x&series=live&step=-1",
                "target=x&series=live&step=1s",
                "target=x&series=live&from=",
                "target=x&series=live&form=3",
        };
        struct history_query q;
        struct error error;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                if (parse(bad[i], &q, &error))
                        fail_msg("accepted: %s", bad[i]);
                assert_true(strlen(error.text) > 10);
        }
        assert_false(parse("target=x&series=live&form=3", &q, &error));
        assert_non_null(strstr(error.text, "'form'"));
}

TEST(lists_are_bounded)
{
        struct error error;
        char query[8192] = "target=x";
        struct history_query q;

        for (int i = 1; i <= 400; i++)
                (void)snprintf(query + strlen(query), sizeof(query) - strlen(query), "&band=%d", i);
        assert_true(parse(query, &q, &error));
        strncat(query, "&band=401", sizeof(query) - strlen(query) - 1);
        assert_false(parse(query, &q, &error));
}

TEST(resolving)
{
        static struct wanted list[QUERY_ITEMS];
        struct world *v = world_new(NULL);
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Heap heap = HW__HEAP__INIT;
        struct history_query q;
        struct error error;
        size_t n;

        u.target = (char *)"api";
        u.has_run = u.has_event_time_ns = 1;
        u.run = 3;
        u.event_time_ns = UINT64_C(100000000000);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(apply_made(v, 1, &u), 0);
        assert_true(parse("target=api&target=gone&series=live&band=7&from=-60", &q, &error));
        assert_true(history_query_resolve(&q, v, list, &n, &error));
        assert_int_equal(n, 4);
        assert_true(list[0].known && list[0].daemon == 1 && list[0].run == 3);
        assert_int_equal(list[0].range.from_ns, UINT64_C(40000000000));
        assert_true(list[0].range.to_ns == UINT64_MAX);
        assert_int_equal(list[1].band, 7);
        assert_false(list[2].known);
        wanted_done(list, n);
        world_destroy(&v);
}
