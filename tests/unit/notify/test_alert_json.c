/* SPDX-License-Identifier: BSD-3-Clause */
/* The three JSON forms: read back with a parser; nothing unknown is written; text from outside is escaped. */
#include "tests/unit/notify/support.h"

#include <jansson.h>

#include "client/out/notify/alert_event.h"
#include "tests/unit/test.h"

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

TEST(our_own_form)
{
        struct alert_event *n = made_up_event(FIRING);
        json_t *root = parse(json_event(n));

        assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
        assert_string_equal(text_at(root, "status", NULL), "firing");
        assert_string_equal(text_at(root, "alert", NULL), "leak");
        assert_string_equal(text_at(root, "band", NULL), "Main.cache");
        assert_string_equal(text_at(root, "bandSource", NULL), "Main.hs:3:1-9");
        assert_string_equal(text_at(root, "bandName", NULL), "sat_info");
        assert_string_equal(text_at(root, "labels", "dash-ed"), "a\"b\\c\n\x1b[31m");
        assert_string_equal(text_at(root, "activeAt", NULL), "2023-11-14T22:14:20.000Z");
        assert_string_equal(text_at(root, "timeNs", NULL), "90000000000");
        assert_int_equal(strlen(text_at(root, "fingerprint", NULL)), 16);
        assert_true(json_real_value(json_object_get(root, "value")) == 1048576.5);
        assert_string_equal(text_at(root, "startsAt", NULL), "2023-11-14T22:14:50.000Z");
        assert_string_equal(text_at(root, "at", NULL), "2023-11-14T22:14:50.000Z");
        assert_string_equal(text_at(root, "activeTimeNs", NULL), "60000000000");
        assert_string_equal(text_at(root, "fingerprint", NULL), "00c0ffee00c0ffee");
        json_decref(root);

        alert_event_unref(&n);
}

TEST(webhook_version_4)
{
        struct alert_event *n = made_up_event(FIRING);
        json_t *root = parse(json_webhook(n));
        const json_t *alert = json_array_get(json_object_get(root, "alerts"), 0);

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

        alert_event_unref(&n);
        n = made_up_event(RESOLVED);
        root = parse(json_webhook(n));
        alert = json_array_get(json_object_get(root, "alerts"), 0);
        assert_string_equal(text_at(root, "status", NULL), "resolved");
        assert_string_equal(text_at(alert, "endsAt", NULL), "2023-11-14T22:15:20.000Z");
        json_decref(root);
        alert_event_unref(&n);
}

static const char *ends_at(struct alert_event *n, uint64_t now, uint64_t ends, json_t **ret_root)
{
        const struct alert_event *list[] = { n };

        *ret_root = parse(json_alertmanager(list, 1, now, ends));
        return text_at(json_array_get(*ret_root, 0), "endsAt", NULL);
}

TEST(alertmanager_ends)
{
        struct alert_event *n = made_up_event(FIRING);
        uint64_t now = WALL + 200 * (uint64_t)1000000000u;
        json_t *root;

        assert_string_equal(ends_at(n, now, now + 4000000000u, &root), "2023-11-14T22:16:44.000Z");
        json_decref(root);
        alert_event_unref(&n);
        n = made_up_event(RESOLVED);
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:15:20.000Z");
        json_decref(root);
        n->ended_ns = now + 3600000000000u; /* the program's clock is ahead: it is over now */
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:16:40.000Z");
        json_decref(root);
        n->ended_ns = WALL; /* before it began: never */
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:14:50.000Z");
        json_decref(root);
        n->ended_ns = n->fired_wall_ns = UNKNOWN_U64;
        assert_string_equal(ends_at(n, now, now, &root), "2023-11-14T22:16:40.000Z");
        assert_null(text_at(json_array_get(root, 0), "startsAt", NULL));
        json_decref(root);
        alert_event_unref(&n);
}

/* A rule's own label that has the name of one of ours keeps its place and gets our value: no key is there twice. */
TEST(ours_win)
{
        struct alert_event *n = made_up_event(FIRING);

        assert_int_equal(json_object_del(json_object_get(n->alert, "labels"), "team"), 0);
        assert_int_equal(json_object_set_new(json_object_get(n->alert, "labels"), "target", json_string("x")), 0);
        json_t *root = parse(json_webhook(n));
        assert_string_equal(text_at(root, "commonLabels", "target"), "api-1");
        assert_int_equal(json_object_size(json_object_get(root, "commonLabels")), 8);
        json_decref(root);
        alert_event_unref(&n);
}

/* Severity and labels identify an alert to its receivers; the rest is news. */
TEST(an_end_keeps_what_identifies_it)
{
        struct alert_event *n = made_up_event(FIRING), *last = made_up_event(RESOLVED);

        (void)json_object_set_new(last->alert, "severity", json_string("info"));
        (void)json_object_set_new(last->alert, "labels", json_pack("{s:s}", "team", "other"));
        (void)json_object_set_new(last->alert, "sentence", json_string("It is over."));
        struct alert_event *e = alert_event_end(n, last, NULL, 0);
        assert_string_equal(alert_event_text(e, "severity"), "critical");
        assert_string_equal(text_at(e->alert, "labels", "team"), "db");
        assert_string_equal(alert_event_text(e, "sentence"), "It is over.");
        assert_string_equal(alert_event_text(last, "severity"), "info");
        alert_event_unref(&e);
        e = alert_event_end(n, NULL, "until tomorrow", WALL);
        assert_true(e->resolved && e->ended_ns == WALL);
        assert_string_equal(alert_event_text(e, "status"), "resolved");
        assert_string_equal(alert_event_text(e, "at"), "2023-11-14T22:13:20.000Z");
        assert_null(alert_event_text(e, "timeNs"));
        assert_string_equal(text_at(e->alert, "annotations", "silenced"), "until tomorrow");
        assert_null(text_at(n->alert, "annotations", "silenced"));
        alert_event_unref(&e);
        e = alert_event_begin(last);
        assert_false(e->resolved);
        assert_string_equal(alert_event_text(e, "at"), "2023-11-14T22:14:50.000Z");
        assert_string_equal(alert_event_text(e, "timeNs"), "90000000000");
        alert_event_unref(&e);
        alert_event_unref(&last);
        alert_event_unref(&n);
}
