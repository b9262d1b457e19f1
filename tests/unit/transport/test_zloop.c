/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traps of ZeroMQ's edge-triggered descriptor: many messages behind one
 * wake-up, wake-ups swallowed by our own sends, and timers that must go on
 * under a flood.
 */
#include "tests/unit/publish/support.h"

#include <poll.h>

#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/time.h"
#include "tests/unit/test.h"

static struct sink {
        struct zloop *loop;
        unsigned received;
        bool pump_inside;
        unsigned later; /* so often it is to be called again before it receives something */
        long work_ns;   /* each message takes this long: libevent's clock is coarse */
} sink;

static int receive_one(void *ctx, void *socket)
{
        struct sink *s = ctx;
        char buffer[256];

        if (s->later > 0) {
                s->later--;
                return -1;
        }
        if (zmq_recv(socket, buffer, sizeof(buffer), ZMQ_DONTWAIT) < 0)
                return 0;
        s->received++;
        if (s->work_ns)
                (void)nanosleep(&(struct timespec){ .tv_nsec = s->work_ns }, NULL);
        if (s->pump_inside)
                zloop_pump(s->loop);
        return 1;
}

static struct pair {
        struct event_base *base;
        void *context, *ours, *theirs;
        char dir[64], endpoint[96];
} p;

static void pair_open(int ours, int theirs)
{
        make_dir(p.dir);
        (void)snprintf(p.endpoint, sizeof(p.endpoint), "ipc://%s/s", p.dir);
        p.base = event_base_new();
        p.context = zmq_ctx_new();
        p.ours = new_socket(p.context, ours, NULL);
        assert_int_equal(zmq_bind(p.ours, p.endpoint), 0);
        p.theirs = new_socket(p.context, theirs, p.endpoint);
}

static int pair_close(void **state)
{
        zloop_destroy(&sink.loop);
        assert_null(sink.loop);
        zmq_close(p.ours);
        zmq_close(p.theirs);
        zmq_ctx_term(p.context);
        event_base_free(p.base);
        (void)unlink(p.endpoint + strlen("ipc://"));
        return rmdir(p.dir);
}

static int push_and_pull(void **state)
{
        memset(&sink, 0, sizeof(sink));
        pair_open(ZMQ_PULL, ZMQ_PUSH);
        return 0;
}

TEST_EACH(push_and_pull, pair_close)

static void wait_for_input(void *socket)
{
        zmq_pollitem_t item = { .socket = socket, .events = ZMQ_POLLIN };

        assert_int_equal(zmq_poll(&item, 1, DEADLINE_MS), 1);
}

/* All messages wait before the socket is registered: one edge at most for all of them. */
TEST(test_pending_before_registration)
{
        for (int i = 0; i < 1000; i++)
                assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        wait_for_input(p.ours); /* this look at ZMQ_EVENTS swallows the wake-up */
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        assert_non_null(sink.loop);
        TURN_UNTIL(p.base, sink.received == 1000);
}

/* 100 subscriptions come while an XPUB publishes: every send may swallow the wake-up, the pump after it must not. */
TEST(test_publishing_xpub_sees_subscriptions)
{
        (void)pair_close(NULL);
        pair_open(ZMQ_XPUB, ZMQ_SUB);
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        (void)event_base_loop(p.base, EVLOOP_NONBLOCK);
        for (int i = 0; i < 100; i++) {
                char topic[16];
                int n = snprintf(topic, sizeof(topic), "topic%d", i);
                assert_int_equal(zmq_setsockopt(p.theirs, ZMQ_SUBSCRIBE, topic, (size_t)n), 0);
        }
        wait_for_input(p.ours);
        uint64_t end_ms = clock_mono_ms() + DEADLINE_MS;
        while (sink.received < 100) { /* the loop never turns: only the pump after our own sends sees them */
                assert_true(clock_mono_ms() < end_ms);
                assert_int_equal(zmq_send(p.ours, "nobody", 6, ZMQ_DONTWAIT), 6);
                zloop_pump(sink.loop);
        }
        assert_int_equal(sink.received, 100);
}

/* The first message is received at once; one that follows it within the spacing is not. */
TEST(test_spacing_delays_what_follows)
{
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        zloop_set_spacing(sink.loop, UINT64_C(3600) * NS_PER_S);
        assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        TURN_UNTIL(p.base, sink.received == 1);
        assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        wait_for_input(p.ours);
        for (int i = 0; i < 10; i++)
                (void)event_base_loop(p.base, EVLOOP_NONBLOCK);
        assert_int_equal(sink.received, 1);
}

/* In bursts and one by one, also after a pump that found nothing: none stays behind. */
TEST(test_spaced_messages_all_arrive)
{
        unsigned sent = 0;

        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        zloop_set_spacing(sink.loop, NS_PER_MS);
        for (unsigned burst = 1; burst <= 40; burst++) {
                for (unsigned i = 0; i < burst % 5 + 1; i++, sent++)
                        assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
                TURN_UNTIL(p.base, sink.received == sent);
                if (burst % 2) /* the spacing passes, and nothing came */
                        (void)event_base_loopexit(p.base, &(struct timeval){ .tv_usec = 5000 });
                (void)event_base_loop(p.base, burst % 2 ? 0 : EVLOOP_NONBLOCK);
        }
}

enum { FLOOD = 1000 };

struct busy {
        struct event *event;
        const unsigned *received;
        unsigned turns, received_before, most_between;
};

/* A source that always has bytes: it takes a millisecond and comes back through a zero-delay timer. */
static void on_source(evutil_socket_t fd, short what, void *ctx)
{
        static const struct timeval at_once = { 0, 0 };
        struct busy *b = ctx;
        unsigned between = *b->received - b->received_before;

        b->received_before = *b->received;
        if (between > b->most_between)
                b->most_between = between;
        b->turns++;
        (void)nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
        if (*b->received < FLOOD) /* a loop that always has work never returns */
                event_add(b->event, &at_once);
}

/*
 * A flood of messages that take 0.1 ms each, and a source that always has work: between two turns of the source
 * there are no more messages than LIMIT_PUMP_NS allows, and the source has several turns for each such pump.
 */
TEST(test_a_flood_leaves_a_busy_source_its_share)
{
        struct busy busy = { .received = &sink.received };
        static const struct timeval at_once = { 0, 0 };

        sink.work_ns = 100 * 1000;
        assert_int_equal(event_base_priority_init(p.base, LOOP_PRIORITIES), 0);
        set_socket_int(p.theirs, ZMQ_SNDHWM, 0);
        for (unsigned i = 0; i < FLOOD; i++)
                assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        wait_for_input(p.ours);
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        busy.event = evtimer_new(p.base, on_source, &busy);
        event_add(busy.event, &at_once);
        TURN_UNTIL(p.base, sink.received == FLOOD);
        assert_in_range(busy.most_between, 1, LIMIT_PUMP_NS / 100000);
        assert_true(busy.turns >= FLOOD / (LIMIT_PUMP_NS / 100000)); /* a pump is followed by one at least */
        event_free(busy.event);
}

struct resting {
        struct sink sink;
        void *other;
        struct event *connects, *source;
        unsigned received_at_turn; /* when the source had its turn */
};

static void wait_for_descriptor(void *socket)
{
        struct pollfd ready = { .events = POLLIN };
        size_t size = sizeof(ready.fd);

        assert_int_equal(zmq_getsockopt(socket, ZMQ_FD, &ready.fd, &size), 0);
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
}

/* The first message takes all of the pump's time. */
static int receive_first(void *ctx, void *socket)
{
        struct resting *r = ctx;
        const int any = receive_one(&r->sink, socket);

        if (r->sink.received == 1)
                event_active(r->connects, EV_TIMEOUT, 0);
        return any;
}

/* After that pump: a peer connects, and a source has something to read. */
static void on_connect(evutil_socket_t fd, short what, void *ctx)
{
        struct resting *r = ctx;

        r->other = new_socket(p.context, ZMQ_PUSH, p.endpoint);
        wait_for_descriptor(p.ours);
        event_active(r->source, EV_TIMEOUT, 0);
}

static void on_readable_source(evutil_socket_t fd, short what, void *ctx)
{
        struct resting *r = ctx;

        r->received_at_turn = r->sink.received;
}

/* The descriptor is readable while the pump rests: that must not keep the loop from others. */
TEST(test_a_rest_leaves_the_loop_to_others)
{
        struct resting r = { .sink.work_ns = 2 * LIMIT_PUMP_NS };

        assert_int_equal(event_base_priority_init(p.base, LOOP_PRIORITIES), 0);
        r.source = event_new(p.base, -1, 0, on_readable_source, &r);
        r.connects = event_new(p.base, -1, 0, on_connect, &r);
        assert_int_equal(event_priority_set(r.connects, LOOP_FIRST), 0);
        for (int i = 0; i < 3; i++)
                assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        wait_for_input(p.ours);
        r.sink.loop = zloop_new(p.base, p.ours, receive_first, &r);
        TURN_UNTIL(p.base, r.sink.received == 3);
        assert_int_equal(r.received_at_turn, 1);
        event_free(r.source);
        event_free(r.connects);
        zmq_close(r.other);
        zloop_destroy(&r.sink.loop);
}

/* With nothing else to do everything is taken without a pause: otherwise the loop would take seconds. */
TEST(test_a_flood_alone_has_the_whole_loop)
{
        unsigned waits = 0;

        sink.work_ns = LIMIT_PUMP_NS;
        assert_int_equal(event_base_priority_init(p.base, LOOP_PRIORITIES), 0);
        for (unsigned i = 0; i < 50; i++)
                assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        wait_for_input(p.ours);
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        while (sink.received < 50) { /* EVLOOP_NONBLOCK: a turn that would have waited takes no message */
                unsigned before = sink.received;
                (void)event_base_loop(p.base, EVLOOP_NONBLOCK);
                waits += sink.received == before;
                assert_true(waits < 10000);
        }
}

/* A receiver that pumps its own loop neither recurses nor loses anything. */
TEST(test_pump_inside_receive)
{
        sink.pump_inside = true;
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        for (int i = 0; i < 200; i++)
                assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        TURN_UNTIL(p.base, sink.received == 200);
}

/* One that has no room for a message is called again, though no descriptor fires any more. */
TEST(test_a_receiver_without_room_is_called_again)
{
        sink.later = 3;
        sink.loop = zloop_new(p.base, p.ours, receive_one, &sink);
        assert_int_equal(zmq_send(p.theirs, "x", 1, 0), 1);
        TURN_UNTIL(p.base, sink.received == 1);
        assert_int_equal(sink.later, 0);
}
