/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's two sockets, used by plain ZeroMQ sockets from outside. */
#include "tests/unit/publish/support.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "proto/wire/limits.h"
#include "daemon/publish/transport/admission.h"
#include "daemon/publish/transport/bus.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/source/loop/memory.h"
#include "proto/base/array.h"
#include "proto/base/process.h"
#include "proto/base/error.h"
#include "proto/cli/keys/key.h"
#include "tests/unit/test.h"

static struct fixture {
        struct event_base *base;
        struct bus *bus;
        void *context;
        char dir[64], publish[96], request[96];
        struct error error;
        unsigned handled;
        char asked_by[160];
        unsigned replies;   /* sent to each request */
        size_t reply_bytes; /* of text in each */
        bool offers;        /* instead, until one is to wait; so many were taken */
        unsigned taken;
        bool keep_late, keep_any;
        struct bus_client *late; /* whose only reply found no room */
} f;

static void on_request(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        char *text = calloc(1, f.reply_bytes + 1);

        assert_non_null(request);
        memset(text, 'x', f.reply_bytes);
        f.handled++;
        (void)snprintf(f.asked_by, sizeof(f.asked_by), "%s", bus_client_name(client));
        for (unsigned i = 0; i < f.replies; i++) {
                Hw__Reply reply = HW__REPLY__INIT;
                Hw__Done done = HW__DONE__INIT;
                SET(reply, more, i + 1 < f.replies);
                reply.what_case = HW__REPLY__WHAT_DONE;
                reply.done = &done;
                done.target = text;
                bus_reply(client, &reply);
        }
        free(text);
        if (f.keep_any || (f.keep_late && bus_client_again(client)))
                f.late = bus_client_keep(client);
}

static void offer_until_later(void *ctx, const Hw__Request *request, struct bus_client *client);

static void on_any_request(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        (f.offers ? offer_until_later : on_request)(ctx, request, client);
}

static struct bus *open_bus(int high_water_mark)
{
        struct bus_options options = { .publish_endpoint = f.publish,
                                       .request_endpoint = f.request,
                                       .high_water_mark = high_water_mark };
        struct bus_handler handler = { NULL, on_any_request };

        return bus_new(f.base, &options, &handler, &f.error);
}

static void open_fixture(int high_water_mark)
{
        memset(&f, 0, sizeof(f));
        f.replies = 1;
        make_dir(f.dir);
        (void)snprintf(f.publish, sizeof(f.publish), "ipc://%s/publish", f.dir);
        (void)snprintf(f.request, sizeof(f.request), "ipc://%s/request", f.dir);
        f.base = event_base_new();
        f.context = zmq_ctx_new();
        f.bus = open_bus(high_water_mark);
        assert_non_null(f.bus);
}

static int close_fixture(void **state)
{
        assert_int_equal(zmq_ctx_term(f.context), 0);
        bus_destroy(&f.bus);
        assert_null(f.bus);
        event_base_free(f.base);
        assert_int_equal(rmdir(f.dir), 0); /* the socket files are gone */
        return 0;
}

static int open_unlimited(void **state)
{
        open_fixture(0);
        return 0;
}

TEST_EACH(open_unlimited, close_fixture)

static bool is_readable(void *socket)
{
        zmq_pollitem_t item = { .socket = socket, .events = ZMQ_POLLIN };

        return zmq_poll(&item, 1, 0) == 1;
}

static void *new_subscriber(const char *prefix)
{
        uint64_t before = bus_stats(f.bus)->clients.subscriptions;
        void *sub = new_socket(f.context, ZMQ_SUB, f.publish);

        assert_int_equal(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, prefix, strlen(prefix)), 0);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == before + 1);
        return sub;
}

static int send_live(uint64_t sequence)
{
        struct test_update u;
        struct update_sink sink = bus_sink(f.bus);

        return sink.send(sink.ctx, test_update(&u, sequence, sequence * 10));
}

/* Receives one update; to be freed by the caller. */
static Hw__Update *receive_update(void *sub, char *topic, size_t topic_size)
{
        uint8_t bytes[4096];
        const char *reason = "";
        int n = zmq_recv(sub, topic, topic_size - 1, 0);

        assert_in_range(n, 1, topic_size - 1);
        topic[n] = '\0';
        n = zmq_recv(sub, bytes, sizeof(bytes), 0);
        assert_in_range(n, 1, sizeof(bytes));
        int more = 1;
        size_t size = sizeof(more);
        assert_int_equal(zmq_getsockopt(sub, ZMQ_RCVMORE, &more, &size), 0);
        assert_int_equal(more, 0);
        Hw__Update *u = hw_update_unpack(bytes, (size_t)n, &reason);
        assert_non_null(u);
        return u;
}

TEST(test_subscriber_gets_its_topics)
{
        char topic[HW_TOPIC_MAX];

        void *heap = new_subscriber("hw1/heap/t/"), *other = new_subscriber("hw1/heap/other/");
        for (uint64_t i = 1; i <= 3; i++)
                assert_int_equal(send_live(i), 0);
        for (uint64_t i = 1; i <= 3; i++) {
                Hw__Update *u = receive_update(heap, topic, sizeof(topic));
                assert_string_equal(topic, "hw1/heap/t/");
                assert_int_equal(u->sequence, i);
                assert_int_equal(u->heap->live_bytes, i * 10);
                hw_update_unref(u);
        }
        assert_false(is_readable(other));
        assert_int_equal(bus_stats(f.bus)->published, 3);
        assert_true(bus_stats(f.bus)->bytes > 0);
        zmq_close(other);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        zmq_close(heap);
}

/* A daemon that publishes without rest still sees 100 subscriptions; each send may swallow a wake-up. */
TEST(test_subscriptions_while_publishing)
{
        void *sub = new_socket(f.context, ZMQ_SUB, f.publish);
        for (int i = 0; i < 100; i++) {
                char prefix[32];
                int n = snprintf(prefix, sizeof(prefix), "hw1/heap/t%d/", i);
                assert_int_equal(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, prefix, (size_t)n), 0);
        }
        uint64_t end_ms = clock_mono_ms() + DEADLINE_MS;
        for (uint64_t i = 1; bus_stats(f.bus)->clients.subscriptions < 100; i++) { /* the loop does not turn at all */
                assert_true(clock_mono_ms() < end_ms);
                assert_int_equal(send_live(i), 0);
        }
        zmq_close(sub);
}

/* One that subscribes without end is disconnected; who came before it stays. */
TEST(test_too_many_subscriptions)
{
        char topic[HW_TOPIC_MAX];

        void *good = new_subscriber("hw1/heap/t/"), *greedy = zmq_socket(f.context, ZMQ_SUB);
        set_socket_int(greedy, ZMQ_SNDHWM, 0); /* else it drops its own subscriptions beyond 1,000 */
        set_socket_int(greedy, ZMQ_LINGER, 0);
        assert_int_equal(zmq_connect(greedy, f.publish), 0);
        for (int i = 0; i < 5000; i++) {
                char prefix[64];
                int n = snprintf(prefix, sizeof(prefix), "hw1/heap/greedy%d/", i);
                assert_int_equal(zmq_setsockopt(greedy, ZMQ_SUBSCRIBE, prefix, (size_t)n), 0);
        }
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.disconnected == 1);
        zmq_close(greedy);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        assert_int_equal(send_live(1), 0);
        hw_update_unref(receive_update(good, topic, sizeof(topic)));
        zmq_close(good);
}

/* A connection counts what it holds, and nothing once it has ended, whatever it did and however it ended. */
TEST(test_subscriptions_are_exact)
{
        void *good = new_subscriber("hw1/heap/t/"), *other = zmq_socket(f.context, ZMQ_XSUB);
        set_socket_int(other, ZMQ_LINGER, 0);
        assert_int_equal(zmq_connect(other, f.publish), 0);
        static const char *const sent[] = { "\1a", "\1a", "\1b", "\1", "\0a", "\0a", "\0b", "\0c", "\1c" };
        for (unsigned i = 0; i < ARRAY_SIZE(sent); i++)
                assert_true(zmq_send(other, sent[i], sent[i][0] ? strlen(sent[i]) : 1 + strlen(sent[i] + 1), 0) > 0);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 3); /* "" and "c" and the other's */
        zmq_close(other);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        for (int i = 0; i < 5; i++) { /* together more than all may hold, if ended ones counted */
                void *twice = zmq_socket(f.context, ZMQ_SUB);
                set_socket_int(twice, ZMQ_SNDHWM, 0);
                set_socket_int(twice, ZMQ_LINGER, 0);
                for (int j = 0; j < 2000; j++)
                        assert_int_equal(zmq_setsockopt(twice, ZMQ_SUBSCRIBE, "hw1/", 4), 0);
                assert_int_equal(zmq_connect(twice, f.publish), 0);
                TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 2);
                zmq_close(twice);
                TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        }
        assert_int_equal(bus_stats(f.bus)->clients.disconnected, 0);
        zmq_close(good);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 0);
}

/* With a heartbeat now and then, with which the bus looks after its sockets. */
static bool is_socket_there(const char *path)
{
        static unsigned turns;
        struct stat st;

        if (turns++ % 500 == 0)
                (void)send_live(turns);
        return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* A runtime directory that is emptied or replaced, as by a logout. */
TEST(test_lost_sockets_are_made_again)
{
        const char *paths[] = { f.publish + strlen("ipc://"), f.request + strlen("ipc://") };
        void *before = new_subscriber("hw1/heap/t/");
        for (unsigned round = 0; round < 2; round++) {
                for (unsigned i = 0; i < 2; i++)
                        assert_int_equal(unlink(paths[i]), 0);
                if (round == 1) /* with its directory */
                        assert_int_equal(rmdir(f.dir), 0);
                for (unsigned i = 0; i < 2; i++)
                        TURN_UNTIL(f.base, is_socket_there(paths[i]));
                void *after = new_subscriber("hw1/heap/u/");
                zmq_close(after);
                TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1); /* who was there stays */
        }
        zmq_close(before);
}

/* Sequence of the next update, 0 when none comes. */
static uint64_t receive_sequence(void *sub)
{
        char topic[HW_TOPIC_MAX];
        uint8_t bytes[256];
        const char *reason;

        if (zmq_recv(sub, topic, sizeof(topic), 0) < 0)
                return 0;
        int n = zmq_recv(sub, bytes, sizeof(bytes), 0);
        assert_in_range(n, 1, sizeof(bytes));
        Hw__Update *u = hw_update_unpack(bytes, (size_t)n, &reason);
        assert_non_null(u);
        uint64_t sequence = u->sequence;
        hw_update_unref(u);
        return sequence;
}

/* 100000 updates to one that does not read: no send waits (it would forever), and no more than the marks is kept. */
TEST(test_slow_subscriber)
{
        enum { N = 100000, MARK = 100 };
        uint64_t received = 0, last = 0, next = N, sequence;
        bool gap = false;

        close_fixture(NULL);
        open_fixture(MARK);
        void *slow = zmq_socket(f.context, ZMQ_SUB);
        set_socket_int(slow, ZMQ_RCVHWM, MARK);
        set_socket_int(slow, ZMQ_LINGER, 0);
        set_socket_int(slow, ZMQ_RCVTIMEO, 200);
        assert_int_equal(zmq_connect(slow, f.publish), 0);
        assert_int_equal(zmq_setsockopt(slow, ZMQ_SUBSCRIBE, "", 0), 0);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        size_t before = mallinfo2().uordblks;
        for (uint64_t i = 1; i <= N; i++) {
                assert_int_equal(send_live(i), 0);
                if (i % 1000 == 0) /* the thread that sends them keeps up */
                        TURN_UNTIL(f.base, mallinfo2().uordblks < before + (4u << 20));
        }
        assert_true(mallinfo2().uordblks < before + (4u << 20)); /* all of them would be more than 8 MiB */
        assert_int_equal(bus_stats(f.bus)->published + bus_stats(f.bus)->dropped,
                         N); /* dropped: that thread fell behind */
        /* It reads again: what comes shows the gap. */
        for (uint64_t end_ms = clock_mono_ms() + DEADLINE_MS; last <= N;) {
                assert_true(clock_mono_ms() < end_ms);
                while ((sequence = receive_sequence(slow))) {
                        assert_true(sequence > last); /* with gaps, but in order and always complete */
                        gap = gap || sequence > last + 1;
                        last = sequence;
                        received++;
                }
                assert_int_equal(send_live(++next), 0);
        }
        assert_true(gap);
        assert_in_range(received, 1, N / 2 + (next - N));
        zmq_close(slow);
}

/* Connecting counts as subscribing does: beyond the burst connections are closed at once. */
TEST(test_connecting_too_often)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        memcpy(address.sun_path, f.publish + strlen("ipc://"), strlen(f.publish + strlen("ipc://")));
        for (unsigned i = 0; i < SUBSCRIBER_BURST_BYTES / SUBSCRIBER_CONNECTION_BYTES + 100; i++) {
                int fd = socket(AF_UNIX, SOCK_STREAM, 0);
                assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
                close(fd);
        }
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.refused > 0);
}

static void send_large(void)
{
        static char text[256 << 10];
        const struct update_sink sink = bus_sink(f.bus);
        Hw__Update update = HW__UPDATE__INIT;
        Hw__Target state = HW__TARGET__INIT;

        memset(text, 'x', sizeof(text) - 1);
        state.uri = text;
        update.target = (char *)"t";
        update.body_case = HW__UPDATE__BODY_TARGET_STATE;
        update.target_state = &state;
        assert_int_equal(sink.send(sink.ctx, &update), 0);
}

/* Large updates are left out for everybody while one does not read; it is shut down, and then others have them. */
TEST(test_stuck_subscribers_give_way)
{
        void *stuck = zmq_socket(f.context, ZMQ_SUB), *reads;
        set_socket_int(stuck, ZMQ_RCVHWM, 1);
        set_socket_int(stuck, ZMQ_LINGER, 0);
        set_socket_int(stuck, ZMQ_RECONNECT_IVL, -1);
        assert_int_equal(zmq_connect(stuck, f.publish), 0);
        assert_int_equal(zmq_setsockopt(stuck, ZMQ_SUBSCRIBE, "", 0), 0);
        TURN_UNTIL(f.base, bus_stats(f.bus)->clients.subscriptions == 1);
        TURN_UNTIL(f.base, (send_large(), bus_stats(f.bus)->dropped > 0));
        reads = new_subscriber("");
        TURN_UNTIL(f.base, (send_large(), is_readable(reads)));
        assert_int_equal(bus_stats(f.bus)->clients.disconnected, 1);
        zmq_close(stuck);
        zmq_close(reads);
}

/* ----------------------------------------------------------- requests */

static size_t pack_status(uint8_t bytes[64], uint64_t id)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;

        SET(request, id, id);
        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        return hw__request__pack(&request, bytes);
}

static Hw__Reply *receive_reply(void *socket)
{
        zmq_msg_t msg;
        const char *reason = "";

        TURN_UNTIL(f.base, is_readable(socket));
        zmq_msg_init(&msg);
        assert_true(zmq_msg_recv(&msg, socket, 0) >= 0);
        Hw__Reply *reply = hw_reply_unpack(zmq_msg_data(&msg), zmq_msg_size(&msg), &reason);
        assert_non_null(reply);
        zmq_msg_close(&msg);
        return reply;
}

/* 100 requests at once, from a DEALER: each handled, each answered by its id, all replies in order. */
TEST(test_requests_of_a_dealer)
{
        uint8_t bytes[64];

        f.replies = 3;
        void *dealer = new_socket(f.context, ZMQ_DEALER, f.request);
        for (uint64_t id = 1; id <= 100; id++) {
                size_t n = pack_status(bytes, id);
                assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        }
        for (unsigned i = 0; i < 300; i++) {
                Hw__Reply *reply = receive_reply(dealer);
                assert_int_equal(reply->id, i / 3 + 1);
                assert_int_equal(reply->more, i % 3 != 2);
                hw_reply_unref(reply);
        }
        assert_int_equal(f.handled, 100);
        assert_int_equal(bus_stats(f.bus)->requests, 100);
        assert_int_equal(bus_stats(f.bus)->bad_requests, 0);
        assert_int_equal(bus_stats(f.bus)->replies_dropped, 0);
        zmq_close(dealer);
}

/* A process over ipc; an address over TCP, also that of an IPv4 peer of a socket that takes both. */
TEST(test_senders)
{
        static const struct {
                const char *host, *name, *address;
        } tcp[] = { { "192.0.2.7", "192.0.2.7", "192.0.2.7:7" },
                    { "2001:db8::1", "2001:db8::1", "[2001:db8::1]:7" },
                    { "::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7:7" } };
        struct message_sender sender;
        char self[64], address[2 * PEER_TEXT];
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        address_sender(pair[0], &(struct sockaddr_storage){ .ss_family = AF_UNIX }, &sender);
        (void)snprintf(self, sizeof(self), "uid %u pid %d", (unsigned)geteuid(), (int)getpid());
        assert_string_equal(sender.name, self);
        assert_true(sender.who > 0 && sender.is_root == (geteuid() == 0));
        (void)close(pair[0]);
        (void)close(pair[1]);
        for (size_t i = 0; i < sizeof(tcp) / sizeof(tcp[0]); i++) {
                struct sockaddr_storage peer = { .ss_family = strchr(tcp[i].host, ':') ? AF_INET6 : AF_INET };
                struct sockaddr_in *v4 = (struct sockaddr_in *)&peer;
                struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&peer;
                const bool is_v4 = peer.ss_family == AF_INET;
                assert_int_equal(
                        inet_pton(peer.ss_family, tcp[i].host, is_v4 ? (void *)&v4->sin_addr : (void *)&v6->sin6_addr),
                        1);
                *(is_v4 ? &v4->sin_port : &v6->sin6_port) = htons(7);
                address_sender(-1, &peer, &sender);
                address_print(&peer, &sender, address);
                assert_string_equal(sender.name, tcp[i].name);
                assert_string_equal(address, tcp[i].address);
                assert_true(sender.who > 0 && !sender.is_root);
        }
}

/* REQ puts an empty frame before its request and wants it back. */
TEST(test_request_of_a_req)
{
        uint8_t bytes[64];

        void *req = new_socket(f.context, ZMQ_REQ, f.request);
        size_t n = pack_status(bytes, 7);
        assert_int_equal(zmq_send(req, bytes, n, 0), (int)n);
        Hw__Reply *reply = receive_reply(req);
        assert_int_equal(reply->id, 7);
        hw_reply_unref(reply);
        char self[64];
        (void)snprintf(self, sizeof(self), "uid %u pid %d", (unsigned)geteuid(), (int)getpid());
        assert_string_equal(f.asked_by, self);
        zmq_close(req);
}

static void expect_refused(void *dealer, unsigned bad)
{
        Hw__Reply *reply = receive_reply(dealer);

        assert_non_null(reply->error);
        assert_true(strlen(reply->error) > 0);
        assert_int_equal(reply->what_case, HW__REPLY__WHAT__NOT_SET);
        hw_reply_unref(reply);
        assert_int_equal(bus_stats(f.bus)->bad_requests, bad);
}

TEST(test_malformed_requests)
{
        static uint8_t large[LIMIT_REQUEST_BYTES + 1];
        uint8_t bytes[64];

        void *dealer = new_socket(f.context, ZMQ_DEALER, f.request);
        assert_int_equal(zmq_send(dealer, "\xff\xff\xff\xff garbage", 12, 0), 12);
        expect_refused(dealer, 1);
        for (int i = 0; i < 20; i++) /* far too many frames */
                assert_int_equal(zmq_send(dealer, "x", 1, i < 19 ? ZMQ_SNDMORE : 0), 1);
        expect_refused(dealer, 2);
        assert_int_equal(zmq_send(dealer, large, sizeof(large), 0), (int)sizeof(large));
        expect_refused(dealer, 3);
        assert_int_equal(f.handled, 0);
        size_t n = pack_status(bytes, 1);
        assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        Hw__Reply *reply = receive_reply(dealer);
        assert_null(reply->error);
        hw_reply_unref(reply);
        assert_int_equal(f.handled, 1);
        zmq_close(dealer);
}

/* What a client asks is done, also when it goes at once; its connection is forgotten then. */
TEST(test_client_gone)
{
        uint8_t bytes[64];
        size_t n = pack_status(bytes, 1);
        Hw__Reply again = HW__REPLY__INIT;

        f.keep_any = true;
        for (unsigned i = 1; i <= 100; i++) {
                void *rude = new_socket(f.context, ZMQ_DEALER, f.request);
                set_socket_int(rude, ZMQ_LINGER, 1000);
                assert_int_equal(zmq_send(rude, bytes, n, 0), (int)n);
                zmq_close(rude);
                TURN_UNTIL(f.base, f.handled == i);
                TURN_UNTIL(f.base, bus_offer(f.late, &again) == BUS_GONE);
                bus_client_release(&f.late);
        }
        f.keep_any = false;
        void *nice = new_socket(f.context, ZMQ_DEALER, f.request);
        assert_int_equal(zmq_send(nice, bytes, n, 0), (int)n);
        Hw__Reply *reply = receive_reply(nice);
        assert_null(reply->error);
        hw_reply_unref(reply);
        zmq_close(nice);
}

/* As it comes: these replies are larger than what hw_reply_unpack() lets pass. */
static bool next_reply_has_more(void *socket)
{
        zmq_msg_t msg;

        TURN_UNTIL(f.base, is_readable(socket));
        zmq_msg_init(&msg);
        assert_true(zmq_msg_recv(&msg, socket, 0) >= 0);
        Hw__Reply *reply = hw__reply__unpack(NULL, zmq_msg_size(&msg), zmq_msg_data(&msg));
        assert_non_null(reply);
        const bool more = reply->more;
        hw__reply__free_unpacked(reply, NULL);
        zmq_msg_close(&msg);
        return more;
}

/*
 * A client requests much and does not read: what waits is bounded, the rest is
 * dropped, and no last reply follows a gap.
 */
TEST(test_client_that_does_not_read)
{
        uint8_t bytes[64];

        f.replies = 200;
        f.reply_bytes = 1 << 20; /* 200 MiB in all */
        void *dealer = zmq_socket(f.context, ZMQ_DEALER);
        set_socket_int(dealer, ZMQ_RCVHWM, 1);
        set_socket_int(dealer, ZMQ_LINGER, 0);
        set_socket_int(dealer, ZMQ_RCVTIMEO, DEADLINE_MS);
        assert_int_equal(zmq_connect(dealer, f.request), 0);
        size_t n = pack_status(bytes, 1);
        assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        TURN_UNTIL(f.base, f.handled == 1);
        assert_in_range(bus_stats(f.bus)->replies_dropped, 100, 199);
        unsigned taken = 200 - (unsigned)bus_stats(f.bus)->replies_dropped;
        zmq_msg_t msg;
        zmq_msg_init(&msg);
        for (unsigned i = 0; i < taken; i++)
                assert_true(next_reply_has_more(dealer)); /* the last one was dropped */
        set_socket_int(dealer, ZMQ_RCVTIMEO, 300);
        assert_int_equal(zmq_msg_recv(&msg, dealer, 0), -1);
        zmq_msg_close(&msg);
        zmq_close(dealer);
}

/* Asks, and takes no reply but what fits into the kernel. */
static void *new_stuck_client(const uint8_t *request, size_t n)
{
        void *dealer = zmq_socket(f.context, ZMQ_DEALER);

        set_socket_int(dealer, ZMQ_RCVHWM, 1);
        set_socket_int(dealer, ZMQ_LINGER, 0);
        assert_int_equal(zmq_connect(dealer, f.request), 0);
        assert_int_equal(zmq_send(dealer, request, n, 0), (int)n);
        return dealer;
}

/*
 * Clients that do not read have filled the memory for replies. Another's only reply finds no room and is not lost: it
 * can be sent when they were shut down.
 */
TEST(test_stuck_clients_give_way)
{
        uint8_t bytes[64];
        const size_t n = pack_status(bytes, 9);

        f.replies = 100;
        f.reply_bytes = 1 << 20;
        void *stuck = new_stuck_client(bytes, n);
        TURN_UNTIL(f.base, f.handled == 1);
        const uint64_t dropped = bus_stats(f.bus)->replies_dropped;
        f.replies = 1;
        f.keep_late = true;
        void *dealer = new_socket(f.context, ZMQ_DEALER, f.request);
        assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        TURN_UNTIL(f.base, f.handled == 2);
        assert_non_null(f.late);
        assert_false(bus_client_is_ready(f.late));
        TURN_UNTIL(f.base, (bus_make_room(f.bus, f.late), bus_client_is_ready(f.late)));
        f.keep_late = false;
        on_request(&f, &(Hw__Request)HW__REQUEST__INIT, f.late);
        assert_false(bus_client_again(f.late));
        bus_client_release(&f.late);
        zmq_msg_t msg;
        zmq_msg_init(&msg);
        assert_true(zmq_msg_recv(&msg, dealer, 0) > (int)f.reply_bytes);
        zmq_msg_close(&msg);
        assert_int_equal(bus_stats(f.bus)->replies_dropped, dropped);
        zmq_close(stuck);
        zmq_close(dealer);
}

/* --------------------------------------------------------------- keys */

/* Lets the key in, or nobody. */
static void authorize(const struct key_pair *key)
{
        char path[96], text[KEY_TEXT];
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/" KEYS_AUTHORIZED, f.dir);
        file = fopen(path, "w");
        assert_non_null(file);
        if (key) {
                key_print(key->public, text);
                assert_true(fprintf(file, "- { name: %s, role: control, public: %s }\n", key->name, text) > 0);
        } else {
                assert_true(fputs("# no key\n", file) >= 0); /* an empty file is refused */
        }
        assert_int_equal(fclose(file), 0);
}

/* With keys, on two ports that are free; the port of requests. */
static unsigned open_keyed(struct key_pair *server)
{
        char path[96], listen[64];
        struct bus_options options = {
                .publish_endpoint = f.publish, .request_endpoint = f.request, .listen = listen, .keys = f.dir
        };
        struct bus_handler handler = { NULL, on_any_request };
        unsigned port = 20000u + (unsigned)getpid() % 20000u;

        (void)snprintf(path, sizeof(path), "%s/" KEYS_SERVER, f.dir);
        assert_true(key_pair_new(server, "server", &f.error) && key_pair_write(server, path, &f.error));
        bus_destroy(&f.bus);
        for (unsigned tries = 0; !f.bus && tries < 100; tries++, port += 2) {
                (void)snprintf(listen, sizeof(listen), "tcp://127.0.0.1:%u", port);
                f.bus = bus_new(f.base, &options, &handler, &f.error);
        }
        assert_non_null(f.bus);
        return port - 1;
}

static void *new_keyed(unsigned port, const struct key_pair *key, const struct key_pair *server)
{
        char endpoint[64];
        void *s = new_socket(f.context, ZMQ_DEALER, NULL);

        (void)snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%u", port);
        assert_int_equal(zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, server->public, KEY_BYTES), 0);
        assert_int_equal(zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, key->public, KEY_BYTES), 0);
        assert_int_equal(zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, key->secret, KEY_BYTES), 0);
        assert_int_equal(zmq_connect(s, endpoint), 0);
        return s;
}

/* What came before its connection was closed is refused, too. */
TEST(test_requests_by_a_revoked_key)
{
        struct key_pair server, alice;
        uint8_t bytes[64];
        char path[96];
        const size_t n = pack_status(bytes, 1);

        if (!zmq_has("curve"))
                skip();
        assert_true(key_pair_new(&alice, "alice", &f.error));
        authorize(&alice);
        void *dealer = new_keyed(open_keyed(&server), &alice, &server);
        assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        Hw__Reply *reply = receive_reply(dealer);
        assert_null(reply->error);
        hw_reply_unref(reply);
        assert_string_equal(f.asked_by, "alice@127.0.0.1");
        authorize(NULL);
        assert_int_equal(zmq_send(dealer, bytes, n, 0), (int)n);
        assert_true(bus_reload_keys(f.bus, &f.error));
        TURN_UNTIL(f.base, admission_stats(bus_admission(f.bus)).shut == 1);
        TURN_UNTIL(f.base, admission_stats(bus_admission(f.bus)).refused > 0); /* it connects again */
        assert_int_equal(f.handled, 1);
        zmq_close(dealer);
        (void)snprintf(path, sizeof(path), "%s/" KEYS_AUTHORIZED, f.dir);
        assert_int_equal(unlink(path), 0);
        (void)snprintf(path, sizeof(path), "%s/" KEYS_SERVER, f.dir);
        assert_int_equal(unlink(path), 0);
}

/* While memory is full a snapshot waits in small parts: small messages do not wait for one another, large ones do. */
static void offer_until_later(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Done done = HW__DONE__INIT;

        done.target = calloc(1, f.reply_bytes + 1);
        assert_non_null(done.target);
        memset(done.target, 'x', f.reply_bytes);
        reply.has_more = reply.more = true;
        reply.what_case = HW__REPLY__WHAT_DONE;
        reply.done = &done;
        for (f.taken = 0; f.taken < f.replies && bus_offer(client, &reply) == BUS_TOOK; f.taken++)
                ;
        free(done.target);
        done.target = (char *)"";
        reply.more = false;
        f.taken += bus_offer_last(client, &reply) == BUS_TOOK;
        f.handled++;
}

TEST(test_replies_while_memory_is_full)
{
        uint8_t bytes[64];
        const size_t n = pack_status(bytes, 1);

        f.offers = true;
        memory_set_budget(UINT64_C(100) << 20);
        memory_update_usage(UINT64_C(97) << 20, 0);
        assert_int_equal(memory_now(), MEMORY_FULL);
        f.replies = 30;
        f.reply_bytes = 1000;
        void *small = new_stuck_client(bytes, n);
        TURN_UNTIL(f.base, f.handled == 1);
        assert_int_equal(f.taken, 31);
        f.replies = 60; /* 15 MiB, which would find room */
        f.reply_bytes = 256 << 10;
        void *large = new_stuck_client(bytes, n);
        TURN_UNTIL(f.base, f.handled == 2);
        assert_in_range(f.taken, 2, 30);
        unsigned read = 1; /* when it reads again, it finds all that was taken, to the last one */
        while (next_reply_has_more(large))
                read++;
        assert_int_equal(read, f.taken);
        memory_set_budget(UNKNOWN_U64);
        zmq_close(small);
        zmq_close(large);
}

/* ---------------------------------------------------------- endpoints */

TEST(test_living_daemon_is_left)
{
        assert_null(open_bus(0));
        assert_non_null(strstr(f.error.text, "another daemon listens there"));
        void *sub = new_subscriber(""); /* it still serves */
        zmq_close(sub);
}

TEST(test_refused_endpoint)
{
        bus_destroy(&f.bus);
        char request[96];
        (void)snprintf(request, sizeof(request), "%s", f.request);
        (void)snprintf(f.request, sizeof(f.request), "tcp://0.0.0.0:5555");
        assert_null(open_bus(0));
        assert_non_null(strstr(f.error.text, "only loopback"));
        (void)snprintf(f.request, sizeof(f.request), "%s", request);
        f.bus = open_bus(0); /* what the failed one had bound is free again */
        assert_non_null(f.bus);
}
