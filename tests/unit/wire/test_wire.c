/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, topics, endpoints, checked unpacking, JSON of odd values (of whole messages: tests/e2e/test_wire_json.py). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/own_directory.h"
#include "proto/wire/endpoints.h"
#include "heapwatch/wire.h"

TEST(test_names)
{
        char topic[HW_TOPIC_MAX], longest[66];
        size_t n = 0;

        for (int k = 1; k <= HW__KIND__KIND_EVENT; k++)
                assert_int_equal(hw_kind_parse(hw_kind_name((Hw__Kind)k)), k);
        assert_null(hw_kind_name(HW__KIND__KIND_NONE));
        assert_null(hw_kind_name((Hw__Kind)99));
        assert_int_equal(hw_kind_parse("nonsense"), HW__KIND__KIND_NONE);
        for (int s = 1; hw_series_name((Hw__Series)s); s++, n++)
                assert_int_equal(hw_series_parse(hw_series_name((Hw__Series)s)), s);
        assert_int_equal(n + 1, hw__series__descriptor.n_values); /* every series has a name */
        assert_string_equal(hw_series_unit(HW__SERIES__SERIES_GC_PAUSE), "ns");
        assert_string_equal(hw_series_unit(HW__SERIES__SERIES_LIVE), "B");
        assert_int_equal(hw_topic(topic, HW__KIND__KIND_HEAP, "api-1"), 15);
        assert_string_equal(topic, "hw1/heap/api-1/");
        assert_int_equal(hw_topic(topic, HW__KIND__KIND_DAEMON, ""), 12);
        assert_string_equal(topic, "hw1/daemon//");
        memset(longest, 'x', 65);
        longest[65] = longest[64] = '\0';
        assert_true(hw_target_name_valid(longest));
        longest[64] = 'x';
        assert_false(hw_target_name_valid(longest));
        assert_false(hw_target_name_valid(""));
        assert_false(hw_target_name_valid("a/b"));
        assert_false(hw_target_name_valid("a b"));
}

TEST(test_endpoints)
{
        static const char *const pairs[][2] = {
                { "ipc:///run/publish/publish", "ipc:///run/publish/request" },
                { "ipc:///x/publish.1", "ipc:///x/request.1" },
                { "tcp://127.0.0.1:5600", "tcp://127.0.0.1:5601" },
                { "tcp://[::1]:5600", "tcp://[::1]:5601" },
        };
        static const char *const bad[] = {
                "",          "ipc:///x",      "tcp://a", "tcp://a:", "tcp://a:0", "tcp://a:65535", "tcp://a:12x",
                "udp://a:1", "tcp://a:999999"
        };
        char out[64], publish[128], request[128];

        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
                assert_int_equal(endpoint_request(out, sizeof(out), pairs[i][0]), 0);
                assert_string_equal(out, pairs[i][1]);
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_int_equal(endpoint_request(out, sizeof(out), bad[i]), -EINVAL);
        assert_int_equal(endpoint_request(out, 8, pairs[0][0]), -ENAMETOOLONG);
        setenv("HEAPWATCH_DIR", "/tmp/own", 1);
        assert_int_equal(hw_default_endpoints(publish, request, sizeof(publish)), 0);
        assert_string_equal(publish, "ipc:///tmp/own/publish");
        assert_string_equal(request, "ipc:///tmp/own/request");
        unsetenv("HEAPWATCH_DIR");
        setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
        assert_int_equal(hw_default_directory(publish, sizeof(publish)), 0);
        assert_string_equal(publish, "/run/user/7/heapwatch");
        assert_int_equal(hw_default_directory(publish, 5), -ENAMETOOLONG);
}

/* Cron, sudo and assistants start commands without XDG_RUNTIME_DIR: the daemon of the session is found all the same. */
TEST(test_directory_of_a_session)
{
        char sessions[] = "/tmp/heapwatch-sessions-XXXXXX", session[64], expected[80], out[80];
        const uid_t user = 54321;

        unsetenv("HEAPWATCH_DIR");
        unsetenv("XDG_RUNTIME_DIR");
        assert_non_null(mkdtemp(sessions));
        assert_int_equal(own_directory(out, sizeof(out), sessions, user), 0);
        assert_string_equal(out, "/tmp/heapwatch-54321");
        assert_int_equal(own_directory(out, sizeof(out), sessions, 0), 0);
        assert_string_equal(out, "/run/heapwatch");

        const uid_t owner = getuid() ? getuid() : user;
        (void)snprintf(session, sizeof(session), "%s/%lu", sessions, (unsigned long)owner);
        (void)snprintf(expected, sizeof(expected), "%s/heapwatch", session);
        assert_int_equal(mkdir(session, 0700), 0);
        assert_int_equal(chown(session, owner, (gid_t)-1), 0);
        assert_int_equal(own_directory(out, sizeof(out), sessions, owner), 0);
        assert_string_equal(out, expected);
        assert_int_equal(own_directory(out, 9, sessions, owner), -ENAMETOOLONG);
        setenv("XDG_RUNTIME_DIR", "relative", 1); /* which its specification has ignored */
        assert_int_equal(own_directory(out, sizeof(out), sessions, owner), 0);
        assert_string_equal(out, expected);
        unsetenv("XDG_RUNTIME_DIR");
        if (getuid() == 0) { /* somebody else's is not taken */
                assert_int_equal(chown(session, owner + 1, (gid_t)-1), 0);
                assert_int_equal(own_directory(out, sizeof(out), sessions, owner), 0);
                assert_string_equal(out, "/tmp/heapwatch-54321");
        }
        assert_int_equal(rmdir(session), 0);
        assert_int_equal(rmdir(sessions), 0);
}

/* Packs, unpacks with checks; NULL means accepted. */
static const char *refusal(const Hw__Update *u)
{
        uint8_t *bytes = malloc(hw__update__get_packed_size(u));
        const char *reason = NULL;

        assert_non_null(bytes);
        Hw__Update *copy = hw_update_unpack(bytes, hw__update__pack(u, bytes), &reason);
        assert_true(!copy == !!reason);
        hw_update_unref(copy);
        free(bytes);
        return reason;
}

TEST(test_trends_and_alerts_refused)
{
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Trends trends = HW__TRENDS__INIT;
        Hw__Trend trend = HW__TREND__INIT, *all[] = { &trend };
        Hw__Alerts alerts = HW__ALERTS__INIT;
        Hw__Alert alert = HW__ALERT__INIT, *list[] = { &alert };

        u.target = (char[]){ "a" };
        u.body_case = HW__UPDATE__BODY_TRENDS;
        u.trends = &trends;
        SET_LIST(trends, trends, all, 1);
        assert_int_equal(hw_update_kind(&u), HW__KIND__KIND_TREND);
        assert_null(refusal(&u));
        trend.has_band = 1;
        assert_non_null(refusal(&u)); /* band 0 */
        trend.band = 1;
        assert_null(refusal(&u));
        SET(trend, series, HW__SERIES__SERIES_LIVE);
        assert_non_null(refusal(&u));
        u.body_case = HW__UPDATE__BODY_ALERTS;
        u.alerts = &alerts;
        assert_int_equal(hw_update_kind(&u), HW__KIND__KIND_ALERT);
        SET_LIST(alerts, alerts, list, 1);
        assert_non_null(refusal(&u));
        alert.rule = (char[]){ "leak" };
        assert_null(refusal(&u));
}

TEST(test_refused)
{
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Census census = HW__CENSUS__INIT;
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Samples samples = HW__SAMPLES__INIT, *all[] = { &samples };
        Hw__DaemonState daemon = HW__DAEMON_STATE__INIT;
        uint32_t bands[] = { 1, 2 };
        uint64_t numbers[] = { 10, 20 };
        char *names[] = { (char[]){ "ok" } };
        const char *reason;

        u.target = (char[]){ "a" };
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &census;
        census.n_band = census.n_bytes = 2;
        census.band = bands;
        census.bytes = numbers;
        assert_null(refusal(&u));
        census.n_bytes = 1;
        assert_non_null(refusal(&u));
        census.n_bytes = 2;
        bands[1] = 0;
        assert_non_null(refusal(&u));
        bands[1] = UINT32_MAX;
        assert_non_null(refusal(&u));
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        SET_LIST(heap, samples, all, 1);
        samples.n_times_ns = samples.n_values = 2;
        samples.times_ns = samples.values = numbers;
        assert_null(refusal(&u));
        samples.n_values = 1;
        assert_non_null(refusal(&u));
        samples.n_values = 2;
        SET_LIST(heap, fact, bands, 1);
        assert_non_null(refusal(&u)); /* a key without a value */
        heap.fact_value = (double[]){ 1.5 };
        heap.n_fact_value = 1;
        assert_null(refusal(&u));
        u.target = (char[]){ "a/b" };
        assert_non_null(refusal(&u));
        u.target = (char[]){ "\xFF" };
        assert_non_null(refusal(&u));
        u.target = NULL;
        assert_non_null(refusal(&u));
        u.body_case = HW__UPDATE__BODY_DAEMON;
        u.daemon = &daemon;
        SET_LIST(daemon, targets, names, 1);
        assert_null(refusal(&u));
        u.target = (char[]){ "a" };
        assert_non_null(refusal(&u));
        u.target = NULL;
        names[0] = (char[]){ "no/name" };
        assert_non_null(refusal(&u));
        assert_null(hw_update_unpack("\xff\xff", 2, &reason));
        void *large = calloc(1, 17u << 20);
        assert_null(hw_update_unpack(large, 17u << 20, &reason));
        free(large);
}

/* Many empty parts: small on the wire, large in memory. */
TEST(test_amplification)
{
        size_t n = 4u << 20;
        uint8_t *bytes = malloc(n + 16);
        const char *reason = NULL;
        size_t used = 0;

        assert_non_null(bytes);
        memcpy(bytes,
               "\x1A\x01"
               "a\xAA\x01",
               5); /* target "a", field 21 (bands) */
        used = 5;
        for (size_t left = n; left; left >>= 7)
                bytes[used++] = (uint8_t)((left & 0x7F) | (left >= 0x80 ? 0x80 : 0));
        for (size_t i = 0; i < n; i += 2) {
                bytes[used + i] = 0x0A;
                bytes[used + i + 1] = 0;
        }
        assert_null(hw_update_unpack(bytes, used + n, &reason));
        assert_non_null(strstr(reason, "unpacked"));
        free(bytes);
}

TEST(test_enums)
{
        static const uint8_t newer_state[] = { 0x1A, 1, 'a', 0x8A, 0x01, 2, 0x08, 99 }; /* target_state.state = 99 */
        static const uint8_t newer_kind[] = { 0x82, 0x01, 2, 0x10, 99 };                /* snapshot.kinds = [99] */
        static const uint8_t known_kind[] = { 0x82, 0x01, 2, 0x10, 3 };
        const char *reason;

        Hw__Update *u = hw_update_unpack(newer_state, sizeof(newer_state), &reason);
        assert_non_null(u);
        assert_false(u->target_state->has_state);
        hw_update_unref(u);
        assert_null(hw_request_unpack(newer_kind, sizeof(newer_kind), &reason));
        Hw__Request *r = hw_request_unpack(known_kind, sizeof(known_kind), &reason);
        assert_non_null(r);
        assert_int_equal(r->snapshot->kinds[0], HW__KIND__KIND_HEAP);
        hw_request_destroy(&r);
}

static void check_json(const ProtobufCMessage *m, bool plain, const char *expected)
{
        char *text = hw_json(m, plain);

        assert_non_null(text);
        assert_string_equal(text, expected);
        free(text);
}

TEST(test_json)
{
        Hw__Point p = HW__POINT__INIT;
        Hw__Note note = HW__NOTE__INIT;
        Hw__TopicHead head = HW__TOPIC_HEAD__INIT;

        check_json(&p.base, false, "{}");
        SET(p, time_ns, UINT64_MAX);
        SET(p, min, -INFINITY);
        SET(p, max, INFINITY);
        SET(p, mean, NAN);
        SET(p, last, 0.1);
        check_json(&p.base, false,
                   "{\"timeNs\":\"18446744073709551615\",\"min\":\"-Infinity\",\"max\":\"Infinity\",\"mean\":\"NaN\","
                   "\"last\":0.1}");
        p.has_min = p.has_max = p.has_mean = false;
        check_json(&p.base, true, "{\"timeNs\":18446744073709551615,\"last\":0.1}");
        note.text = (char[]){ "q\"\\\n\x01\xC2\x9B\xE2\x80\xAE\xFF\xC3\xA9" };
        check_json(&note.base, false, "{\"text\":\"q\\\"\\\\\\n\\u0001\\u009B\\u202E\xEF\xBF\xBD\xC3\xA9\"}");
        SET(head, kind, HW__KIND__KIND_GC);
        check_json(&head.base, false, "{\"kind\":\"KIND_GC\"}");
        head.kind = (Hw__Kind)99;
        check_json(&head.base, false, "{\"kind\":99}");
}

/* The schema has no bytes field yet; the mapping is there when one comes. */
TEST(test_json_bytes)
{
        struct blob {
                ProtobufCMessage base;
                ProtobufCBinaryData data;
        };
        static const ProtobufCFieldDescriptor field = { .name = "some_data",
                                                        .id = 1,
                                                        .label = PROTOBUF_C_LABEL_REQUIRED,
                                                        .type = PROTOBUF_C_TYPE_BYTES,
                                                        .offset = offsetof(struct blob, data) };
        static const ProtobufCMessageDescriptor type = { .n_fields = 1, .fields = &field };
        static const struct {
                const char *data, *text;
        } cases[] = { { "", "" }, { "M", "TQ==" }, { "Ma", "TWE=" }, { "Man", "TWFu" }, { "\xFF\xFF\xFE", "///+" } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct blob blob = { { &type, 0, NULL },
                                     { strlen(cases[i].data), (uint8_t *)(uintptr_t)cases[i].data } };
                char expected[64] = "{\"someData\":\"";

                strncat(expected, cases[i].text, 16);
                strncat(expected, "\"}", 3);
                check_json(&blob.base, false, expected);
        }
}
