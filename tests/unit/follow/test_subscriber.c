/* SPDX-License-Identifier: BSD-3-Clause */
/* The subscriber against a fake daemon. Every wait has a deadline; a test continues when its condition holds. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "tests/unit/test.h"

#include "tests/unit/follow/fake_daemon.h"

#define DEADLINE_MS 120000

static struct fake_daemon d;
static struct hw_subscriber *s;

static int begin(void **state)
{
        fake_start(&d, 77);
        return 0;
}

static int end(void **state)
{
        hw_subscriber_destroy(&s);
        assert_null(s);
        fake_stop(&d);
        return 0;
}

TEST_EACH(begin, end)

static struct hw_subscriber *follow(struct fake_daemon *a, struct fake_daemon *b)
{
        const char *endpoints[] = { a->endpoint, b ? b->endpoint : NULL };
        struct hw_subscriber_options o = { .endpoints = endpoints, .n_endpoints = b ? 2 : 1 };
        struct hw_subscriber *ret = hw_subscriber_new(&o);

        assert_non_null(ret);
        return ret;
}

/* Runs the subscriber until the daemon has a request; events before it must be RESET or STALE or ALIVE. */
static void expect_request(struct fake_daemon *from, const char *target)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS;
        const Hw__Update *u;

        while (clock_mono_ms() < until) {
                Hw__Request *r = fake_take_request(from);

                if (r) {
                        assert_int_equal(r->what_case, HW__REQUEST__WHAT_SNAPSHOT);
                        assert_int_equal(r->snapshot->n_targets, target ? 1 : 0);
                        if (target)
                                assert_string_equal(r->snapshot->targets[0], target);
                        hw_request_destroy(&r);
                        return;
                }
                int e = hw_subscriber_next(s, 10, &u);
                assert_true(e == HW_SUBSCRIBER_NOTHING || e == HW_SUBSCRIBER_RESET || e == HW_SUBSCRIBER_STALE ||
                            e == HW_SUBSCRIBER_ALIVE);
        }
        fail_msg("no request came");
}

static const Hw__Update *expect(int event)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS;
        const Hw__Update *u = NULL;
        int e = HW_SUBSCRIBER_NOTHING;

        /* A daemon that this test left alone for too long on a busy machine is stale, and alive again. */
        while ((e == HW_SUBSCRIBER_NOTHING || e == HW_SUBSCRIBER_STALE || e == HW_SUBSCRIBER_ALIVE) && e != event &&
               clock_mono_ms() < until)
                e = hw_subscriber_next(s, 50, &u);
        assert_int_equal(e, event);
        return u;
}

static void expect_live(const char *target, uint64_t live)
{
        const Hw__Update *u = expect(HW_SUBSCRIBER_UPDATE);

        assert_string_equal(u->target, target);
        assert_int_equal(u->body_case, HW__UPDATE__BODY_HEAP);
        assert_int_equal(u->heap->live_bytes, live);
}

static void expect_state(const char *target, Hw__Target__State state)
{
        const Hw__Update *u = expect(HW_SUBSCRIBER_UPDATE);

        assert_string_equal(u->target, target);
        assert_int_equal(u->body_case, HW__UPDATE__BODY_TARGET_STATE);
        assert_int_equal(u->target_state->state, state);
}

static void expect_quiet(void)
{
        const Hw__Update *u;

        assert_int_equal(hw_subscriber_next(s, 100, &u), HW_SUBSCRIBER_NOTHING);
}

/* The daemon waits until the subscriber's subscriptions have arrived. */
static void wait_subscribed(void)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS;
        const Hw__Update *u;
        char byte[128];
        int n = 0, kinds = 0;

        while (kinds < 13 && clock_mono_ms() < until) {
                n = zmq_recv(d.publish, byte, sizeof(byte), ZMQ_DONTWAIT);
                if (n > 0 && byte[0] == 1)
                        kinds++;
                else if (n < 0)
                        (void)hw_subscriber_next(s, 1, &u);
        }
        assert_int_equal(kinds, 13);
}

/* One target "a" with heap sequence 5, live 500; the subscriber is ready. */
static struct hw_subscriber *ready(void)
{
        s = follow(&d, NULL);
        wait_subscribed();
        expect_request(&d, NULL);
        fake_target(&d, "a", 3, 5, HW__TARGET__STATE__STATE_RUNNING, true);
        fake_heap(&d, "a", 5, 500, true);
        fake_snapshot_end(&d);
        expect(HW_SUBSCRIBER_RESET);
        expect_state("a", HW__TARGET__STATE__STATE_RUNNING);
        expect_live("a", 500);
        expect(HW_SUBSCRIBER_READY);
        return s;
}

TEST(test_join_late)
{
        s = follow(&d, NULL);
        wait_subscribed();
        expect_request(&d, NULL);
        fake_heap(&d, "a", 5, 500, false); /* covered by the snapshot */
        fake_heap(&d, "a", 6, 600, false); /* not covered */
        expect(HW_SUBSCRIBER_RESET);
        expect_quiet(); /* nothing before the snapshot */
        fake_heap(&d, "a", 5, 500, true);
        fake_snapshot_end(&d);
        expect_live("a", 500);
        expect(HW_SUBSCRIBER_READY);
        expect_live("a", 600);
        fake_heap(&d, "a", 7, 700, false);
        expect_live("a", 700);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 0);
        assert_int_equal(hw_subscriber_stats(s)->snapshots, 1);
        assert_int_equal(hw_subscriber_stats(s)->updates, 3);
}

TEST(test_gap_resyncs)
{
        s = ready();
        uint64_t begin = clock_mono_ms();
        fake_heap(&d, "a", 9, 900, false);
        expect_live("a", 900);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 1);
        assert_int_equal(hw_subscriber_stats(s)->lost, 3);
        expect_request(&d, "a");
        fake_heap(&d, "a", 10, 1000, false); /* held: the snapshot has it */
        fake_heap(&d, "b", 1, 1, false);     /* of another target: goes on */
        expect_live("b", 1);
        fake_heap(&d, "a", 10, 1001, true);
        fake_snapshot_end(&d);
        expect_live("a", 1001);
        expect_quiet();
        /* A gap again at once: resynced, but not at once. */
        fake_heap(&d, "a", 12, 1200, false);
        expect_live("a", 1200);
        expect_request(&d, "a");
        assert_true(clock_mono_ms() - begin >= 990);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 2);
        assert_int_equal(hw_subscriber_stats(s)->lost, 4);
}

TEST(test_silent_loss)
{
        s = ready();
        fake_target(&d, "a", 4, 5, HW__TARGET__STATE__STATE_RUNNING, false);
        expect_state("a", HW__TARGET__STATE__STATE_RUNNING);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 0);
        fake_target(&d, "a", 5, 7, HW__TARGET__STATE__STATE_RUNNING, false);
        expect_state("a", HW__TARGET__STATE__STATE_RUNNING);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 1);
        assert_int_equal(hw_subscriber_stats(s)->lost, 2);
        expect_request(&d, "a");
        fake_heap(&d, "a", 7, 700, true);
        fake_snapshot_end(&d);
        expect_live("a", 700);
}

TEST(test_new_epoch)
{
        s = ready();
        fake_unbind(&d);
        expect(HW_SUBSCRIBER_STALE);
        d.epoch = 78;
        fake_bind(&d);
        wait_subscribed();
        fake_heap(&d, "a", 1, 11, false);
        expect(HW_SUBSCRIBER_RESET);
        expect_request(&d, NULL);
        fake_heap(&d, "a", 1, 11, true);
        fake_snapshot_end(&d);
        expect_live("a", 11);
        expect(HW_SUBSCRIBER_READY);
        d.epoch = 77; /* a late message of the old epoch */
        fake_heap(&d, "a", 6, 600, false);
        expect_quiet();
}

TEST(test_stale_and_alive)
{
        s = ready();
        expect(HW_SUBSCRIBER_STALE);
        fake_heartbeat(&d, 1);
        expect(HW_SUBSCRIBER_ALIVE);
        assert_int_equal(expect(HW_SUBSCRIBER_UPDATE)->body_case, HW__UPDATE__BODY_DAEMON);
}

TEST(test_slow_snapshot)
{
        s = follow(&d, NULL);
        wait_subscribed();
        expect_request(&d, NULL);
        uint64_t first = d.id;
        fake_heap(&d, "a", 6, 600, false);
        expect_request(&d, NULL); /* silent: asked again */
        assert_int_not_equal(d.id, first);
        assert_int_equal(hw_subscriber_stats(s)->snapshots, 2);
        uint64_t second = d.id;
        d.id = first;
        fake_heap(&d, "a", 4, 444, true); /* late answers to the first are not taken */
        d.id = second;
        fake_heap(&d, "a", 5, 500, true);
        fake_snapshot_end(&d);
        expect_live("a", 500);
        expect(HW_SUBSCRIBER_READY);
        expect_live("a", 600);
}

TEST(test_malformed)
{
        s = ready();
        fake_publish_bytes(&d, "hw1/heap/a/", "\xff\xff\xff", 3);
        fake_publish_bytes(&d, "hw1/heap/a/", "", 0);      /* no epoch */
        if (zmq_send(d.publish, "hw1/heap/a/", 11, 0) < 0) /* one part */
                fail();
        Hw__Update u = fake_update(&d, "a", 6);
        Hw__Heap heap = HW__HEAP__INIT;
        uint8_t bytes[256];
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        fake_publish_bytes(&d, "hw1/gc/a/", bytes, hw__update__pack(&u, bytes)); /* wrong topic */
        zmq_send(d.request, zmq_msg_data(&d.peer), zmq_msg_size(&d.peer), ZMQ_SNDMORE);
        zmq_send(d.request, "\xff\xff", 2, 0);
        u.body_case = HW__UPDATE__BODY__NOT_SET; /* of a newer daemon: ignored, not bad */
        fake_publish_bytes(&d, "hw1/trend/a/", bytes, hw__update__pack(&u, bytes));
        fake_heap(&d, "a", 6, 600, false);
        expect_live("a", 600);
        expect_quiet();
        assert_int_equal(hw_subscriber_stats(s)->bad, 5);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 0);
}

TEST(test_two_daemons)
{
        struct fake_daemon two[2];

        fake_start(&two[0], 77);
        fake_start(&two[1], 88);
        s = follow(&two[0], &two[1]);
        for (unsigned i = 0; i < 2; i++) {
                expect_request(&two[i], NULL);
                fake_heap(&two[i], "a", 1, i, true);
                fake_snapshot_end(&two[i]);
                expect(HW_SUBSCRIBER_RESET);
                assert_int_equal(hw_subscriber_daemon(s), i);
                expect_live("a", i);
                assert_int_equal(hw_subscriber_daemon(s), i);
                expect(HW_SUBSCRIBER_READY);
        }
        fake_stop(&two[0]);
        fake_stop(&two[1]);
}

TEST(test_removed)
{
        s = ready();
        fake_target(&d, "a", 4, 5, HW__TARGET__STATE__STATE_REMOVED, false);
        expect_state("a", HW__TARGET__STATE__STATE_REMOVED);
        fake_heap(&d, "a", 1, 100, false); /* added again: counts from 1 */
        expect_live("a", 100);
        snprintf(d.first_target, sizeof(d.first_target), "a");
        d.n_targets = 1;
        fake_heartbeat(&d, 1);
        expect(HW_SUBSCRIBER_UPDATE);
        d.n_targets = 0; /* its last message is lost */
        fake_heartbeat(&d, 2);
        fake_heartbeat(&d, 3);
        assert_int_equal(expect(HW_SUBSCRIBER_UPDATE)->body_case, HW__UPDATE__BODY_DAEMON);
        expect_state("a", HW__TARGET__STATE__STATE_REMOVED);
        assert_int_equal(expect(HW_SUBSCRIBER_UPDATE)->body_case, HW__UPDATE__BODY_DAEMON);
        assert_int_equal(hw_subscriber_stats(s)->gaps, 0);
}

/* Many messages at once, woken by the descriptor alone. */
TEST(test_descriptor)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS, got = 0;

        s = ready();
        expect_quiet();
        for (uint64_t i = 6; i < 1006; i++)
                fake_heap(&d, "a", i, i, false);
        while (got < 1000 && clock_mono_ms() < until) {
                struct pollfd p = { .fd = hw_subscriber_fd(s), .events = POLLIN };
                const Hw__Update *u;
                int e;

                assert_true(poll(&p, 1, DEADLINE_MS) > 0);
                while ((e = hw_subscriber_next(s, 0, &u)) > 0)
                        got += e == HW_SUBSCRIBER_UPDATE;
                assert_int_equal(e, HW_SUBSCRIBER_NOTHING);
        }
        assert_int_equal(got, 1000);
        /* The descriptor wakes for silence, too. */
        struct pollfd p = { .fd = hw_subscriber_fd(s), .events = POLLIN };
        const Hw__Update *u;
        int e = HW_SUBSCRIBER_NOTHING;
        while (e == HW_SUBSCRIBER_NOTHING) {
                assert_true(poll(&p, 1, DEADLINE_MS) > 0);
                e = hw_subscriber_next(s, 0, &u);
        }
        assert_int_equal(e, HW_SUBSCRIBER_STALE);
}

TEST(test_filters)
{
        const char *targets[] = { "api-1" };
        Hw__Kind kinds[] = { HW__KIND__KIND_GC };

        const char *endpoints[] = { d.endpoint };
        struct hw_subscriber_options o = { .endpoints = endpoints,
                                           .n_endpoints = 1,
                                           .targets = targets,
                                           .n_targets = 1,
                                           .kinds = kinds,
                                           .n_kinds = 1 };
        s = hw_subscriber_new(&o);
        static const char *const expected[] = { "\1hw1/daemon//", "\1hw1/target/api-1/", "\1hw1/gc/api-1/" };
        unsigned seen = 0;
        int n = 0;
        for (uint64_t until = clock_mono_ms() + DEADLINE_MS; n < 3 && clock_mono_ms() < until;) {
                char topic[64] = "";
                const Hw__Update *u;

                if (zmq_recv(d.publish, topic, sizeof(topic) - 1, ZMQ_DONTWAIT) < 0) {
                        (void)hw_subscriber_next(s, 1, &u);
                        continue;
                }
                n++;
                for (unsigned i = 0; i < 3; i++)
                        seen |= (!strcmp(topic, expected[i])) << i;
        }
        assert_int_equal(seen, 7); /* in any order, nothing else */
        endpoints[0] = "nonsense";
        assert_null(hw_subscriber_new(&o));
        assert_int_equal(errno, EINVAL);
        endpoints[0] = d.endpoint;
        targets[0] = "a/b";
        assert_null(hw_subscriber_new(&o));
        assert_int_equal(errno, EINVAL);
}

/* Of many targets all kinds arrive, of others nothing: a SUB would drop subscriptions beyond 1,000. */
TEST(test_many_targets)
{
        char names[200][16];
        const char *targets[200];

        for (unsigned i = 0; i < 200; i++) {
                (void)snprintf(names[i], sizeof(names[i]), "t%u", i);
                targets[i] = names[i];
        }
        const char *endpoints[] = { d.endpoint };
        struct hw_subscriber_options o = {
                .endpoints = endpoints, .n_endpoints = 1, .targets = targets, .n_targets = 200
        };
        s = hw_subscriber_new(&o);
        wait_subscribed();
        Hw__Request *r = NULL;
        for (uint64_t until = clock_mono_ms() + DEADLINE_MS; !r && clock_mono_ms() < until; r = fake_take_request(&d)) {
                const Hw__Update *u;
                (void)hw_subscriber_next(s, 10, &u);
        }
        assert_non_null(r);
        assert_int_equal(r->snapshot->n_targets, 200);
        hw_request_destroy(&r);
        fake_snapshot_end(&d);
        fake_heap(&d, "other", 1, 100, false);
        fake_target(&d, "other", 1, 1, HW__TARGET__STATE__STATE_RUNNING, false);
        fake_heap(&d, "t150", 1, 500, false);
        fake_target(&d, "t150", 1, 1, HW__TARGET__STATE__STATE_RUNNING, false);
        expect(HW_SUBSCRIBER_RESET);
        expect(HW_SUBSCRIBER_READY);
        expect_live("t150", 500);
        expect_state("t150", HW__TARGET__STATE__STATE_RUNNING);
        expect_quiet();
        assert_int_equal(hw_subscriber_stats(s)->lost, 0);
}

/* ------------------------------------------------------------------ requests */

struct answering {
        struct fake_daemon d;
        int n_replies;
};

/* Answers one request: first with a wrong id, then with n_replies updates and the end. */
static void *answer(void *arg)
{
        struct answering *a = arg;
        Hw__Request *r = NULL;

        for (uint64_t until = clock_mono_ms() + DEADLINE_MS; !r && clock_mono_ms() < until;) {
                zmq_pollitem_t item = { .socket = a->d.request, .events = ZMQ_POLLIN };

                zmq_poll(&item, 1, 100);
                r = fake_take_request(&a->d);
        }
        if (!r)
                return NULL;
        hw_request_destroy(&r);
        a->d.id++;
        fake_heap(&a->d, "a", 1, 1, true);
        a->d.id--;
        for (int i = 0; i < a->n_replies; i++)
                fake_heap(&a->d, "a", 1, 1, true);
        if (a->n_replies >= 0)
                fake_snapshot_end(&a->d);
        return NULL;
}

static void count_reply(void *ctx, const Hw__Reply *reply)
{
        assert_int_equal(reply->id, 1);
        ++*(int *)ctx;
}

static int ask_with(int n_replies, int timeout_ms, int *ret_count)
{
        struct answering a = { .n_replies = n_replies };
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        pthread_t thread;
        int result;

        fake_start(&a.d, 77);
        *ret_count = 0;
        pthread_create(&thread, NULL, answer, &a);
        result = hw_request(a.d.endpoint, r, timeout_ms, count_reply, ret_count);
        pthread_join(thread, NULL);
        fake_stop(&a.d);
        hw_request_destroy(&r);
        return result;
}

TEST(test_request)
{
        int n;
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_STATUS);

        assert_int_equal(ask_with(3, DEADLINE_MS, &n), 0);
        assert_int_equal(n, 4);
        assert_int_equal(ask_with(-1, 300, &n), -ETIMEDOUT);
        assert_int_equal(n, 0);
        assert_int_equal(hw_request("ipc:///run/hw-nobody/publish", r, 100, count_reply, &n), -ETIMEDOUT);
        assert_int_equal(hw_request("ipc:///tmp/hw-nobody/publish", r, 100, count_reply, &n), -EPERM); /* anyone's */
        assert_int_equal(hw_request("nonsense", r, 100, count_reply, &n), -EINVAL);
        hw_request_destroy(&r);
}
