/* SPDX-License-Identifier: BSD-3-Clause */
/* The three JSON forms: read back with a parser; nothing unknown is written; text from outside is escaped. */
#include "tests/unit/act/support.h"

#include <jansson.h>
#include <math.h>

#include "daemon/act/json.h"

static json_t *parse(char *text)
{
        json_error_t error;
        json_t *root = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;

        if (!root)
                fail_msg("%s: %s", text ? text : "out of memory", text ? error.text : "");
        assert_null(strchr(text, '\n'));
        assert_null(strchr(text, '\x1b'));
        free(text);
        return root;
}

static const char *text_at(const json_t *root, const char *a, const char *b)
{
        const json_t *found = json_object_get(root, a);

        return json_string_value(b ? json_object_get(found, b) : found);
}

static void our_own_form(void **state)
{
        struct notice *n = made_up_notice(NOTICE_PENDING);
        json_t *root = parse(json_notice(n));

        (void)state;
        assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
        assert_string_equal(text_at(root, "status", NULL), "pending");
        assert_string_equal(text_at(root, "alert", NULL), "leak");
        assert_string_equal(text_at(root, "band", NULL), "Main.cache");
        assert_string_equal(text_at(root, "bandSource", NULL), "Main.hs:3:1-9");
        assert_string_equal(text_at(root, "bandName", NULL), "sat_info");
        assert_string_equal(text_at(root, "labels", "dash-ed"), "a\"b\\c\n\x1b[31m");
        assert_string_equal(text_at(root, "activeAt", NULL), "2023-11-14T22:14:20.000Z");
        assert_string_equal(text_at(root, "timeNs", NULL), "120000000000");
        assert_int_equal(strlen(text_at(root, "fingerprint", NULL)), 16);
        assert_true(json_real_value(json_object_get(root, "value")) == 1048576.5);
        assert_null(json_object_get(root, "startsAt")); /* it does not fire yet */
        assert_null(json_object_get(root, "startsTimeNs"));
        json_decref(root);

        n->value = NAN;
        n->band = n->value_text = NULL;
        n->run = 0;
        root = parse(json_notice(n));
        assert_null(json_object_get(root, "value"));
        assert_null(json_object_get(root, "band"));
        assert_null(json_object_get(root, "valueText"));
        assert_null(json_object_get(root, "run"));
        json_decref(root);
        free(n);
}

static void webhook_version_4(void **state)
{
        struct notice *n = made_up_notice(NOTICE_FIRING);
        json_t *root = parse(json_webhook(n));
        const json_t *alert = json_array_get(json_object_get(root, "alerts"), 0);

        (void)state;
        assert_string_equal(text_at(root, "version", NULL), "4");
        assert_string_equal(text_at(root, "groupKey", NULL), "{}:{alertname=\"leak\", target=\"api-1\"}");
        assert_string_equal(text_at(root, "status", NULL), "firing");
        assert_string_equal(text_at(root, "receiver", NULL), "heapwatch");
        assert_string_equal(text_at(root, "groupLabels", "alertname"), "leak");
        assert_string_equal(text_at(root, "commonLabels", "team"), "db");
        assert_int_equal(json_array_size(json_object_get(root, "alerts")), 1);
        assert_string_equal(text_at(alert, "labels", "severity"), "critical");
        assert_string_equal(text_at(alert, "labels", "band"), "Main.cache");
        assert_string_equal(text_at(alert, "labels", "band_source"), "Main.hs:3:1-9");
        assert_string_equal(text_at(alert, "labels", "band_name"), "sat_info");
        assert_string_equal(text_at(alert, "annotations", "summary"), "Main.cache grows without end.");
        assert_string_equal(text_at(alert, "annotations", "runbook"), "https://example.org/x");
        assert_string_equal(text_at(alert, "startsAt", NULL), "2023-11-14T22:14:50.000Z");
        assert_string_equal(text_at(alert, "endsAt", NULL), "0001-01-01T00:00:00Z");
        json_decref(root);

        n->state = NOTICE_RESOLVED;
        root = parse(json_webhook(n));
        alert = json_array_get(json_object_get(root, "alerts"), 0);
        assert_string_equal(text_at(root, "status", NULL), "resolved");
        assert_string_equal(text_at(alert, "endsAt", NULL), "2023-11-14T22:15:20.000Z");
        json_decref(root);
        free(n);
}

static const char *ends_at(struct notice *n, uint64_t now, uint64_t ends, json_t **ret_root)
{
        const struct notice *list[] = { n };

        *ret_root = parse(json_alertmanager(list, 1, now, ends));
        return text_at(json_array_get(*ret_root, 0), "endsAt", NULL);
}

static void alertmanager_ends(void **state)
{
        struct notice *n = made_up_notice(NOTICE_FIRING);
        uint64_t now = WALL + 200 * (uint64_t)1000000000u;
        json_t *root;

        (void)state;
        assert_string_equal(ends_at(n, now, now + 4000000000u, &root), "2023-11-14T22:16:44.000Z");
        json_decref(root);
        n->state = NOTICE_RESOLVED;
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:15:20.000Z");
        json_decref(root);
        n->wall_ns = now + 3600000000000u; /* the program's clock is ahead: it is over now */
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:16:40.000Z");
        json_decref(root);
        n->wall_ns = WALL; /* before it began: never */
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:14:50.000Z");
        json_decref(root);
        n->wall_ns = n->fired_wall_ns = NOTICE_NO_TIME;
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:16:40.000Z");
        assert_null(text_at(json_array_get(root, 0), "startsAt", NULL));
        json_decref(root);
        free(n);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(our_own_form),
                cmocka_unit_test(webhook_version_4),
                cmocka_unit_test(alertmanager_ends),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
