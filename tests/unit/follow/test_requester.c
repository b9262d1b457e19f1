/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester against a fake daemon, in one thread: the requester
 * is pumped only when its descriptor says so, as a caller's loop would do it.
 */
#include <errno.h>
#include <poll.h>

#include "tests/unit/test.h"

#include "tests/unit/follow/fake_daemon.h"

#define DEADLINE_MS 120000

/* What a handler received. */
struct heard {
        int parts, last, status;    /* status: the first one that was not a part */
        struct hw_requester *again; /* sends another request from within the handler */
        uint64_t cancel;            /* cancels another one from within the handler */
};

static int send_status(struct hw_requester *r, size_t daemon, int timeout_ms, struct heard *h, uint64_t *ret_id);

static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct heard *h = ctx;

        assert_true((status >= 0) == (reply != NULL));
        if (status == HW_REPLY_PART) {
                h->parts++;
                return;
        }
        h->last++;
        h->status = status;
        if (h->again) {
                struct hw_requester *r = h->again;

                h->again = NULL;
                hw_requester_cancel(r, h->cancel);
                for (int i = 0; i < 50; i++) /* more slots than there were: they move */
                        assert_int_equal(send_status(r, 0, DEADLINE_MS, h, NULL),
                                         status == -ECANCELED ? -ECANCELED : 0);
        }
}

static int send_status(struct hw_requester *r, size_t daemon, int timeout_ms, struct heard *h, uint64_t *ret_id)
{
        Hw__Request *request = hw_request_new(HW__REQUEST__WHAT_STATUS);
        int result = hw_requester_send(r, daemon, request, timeout_ms, on_reply, h, ret_id);

        hw_request_destroy(&request);
        return result;
}

static struct hw_requester *requester(const struct fake_daemon *d)
{
        const char *endpoint = d->endpoint;
        struct hw_requester *r = hw_requester_new(&endpoint, 1);

        assert_non_null(r);
        return r;
}

/* One turn of a caller's loop; the descriptor alone decides whether there is something to do. */
static void turn(struct hw_requester *r)
{
        struct pollfd readable = { .fd = hw_requester_fd(r), .events = POLLIN };

        if (poll(&readable, 1, 10) > 0)
                (void)hw_requester_pump(r);
}

/* Lets the daemon take `n` requests; the last ones' id and peer stay in it. */
static void take_requests(struct hw_requester *r, struct fake_daemon *d, int n)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS;

        while (n > 0 && clock_mono_ms() < until) {
                Hw__Request *request = fake_take_request(d);

                if (!request)
                        turn(r);
                n -= request != NULL;
                hw_request_destroy(&request);
        }
        assert_int_equal(n, 0);
}

static void wait_last(struct hw_requester *r, const struct heard *h, int last)
{
        uint64_t until = clock_mono_ms() + DEADLINE_MS;

        while (h->last < last && clock_mono_ms() < until)
                turn(r);
        assert_int_equal(h->last, last);
}

static void reply_to(struct fake_daemon *d, uint64_t id)
{
        d->id = id;
        fake_snapshot_end(d);
}

TEST(test_parts)
{
        struct fake_daemon d;
        struct heard h = { 0 };

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &h, NULL), 0);
        assert_int_equal(h.last, 0); /* never from within send */
        take_requests(r, &d, 1);
        for (int i = 0; i < 300; i++) /* more than one pump takes: the descriptor must stay readable */
                fake_heap(&d, "a", 1, 1, true);
        fake_snapshot_end(&d);
        fake_snapshot_end(&d); /* once more: of a request that is done */
        wait_last(r, &h, 1);
        assert_int_equal(h.parts, 300);
        assert_int_equal(h.status, HW_REPLY_LAST);
        assert_int_equal(hw_requester_pump(r), 0);
        assert_int_equal(h.last, 1);
        hw_requester_destroy(&r);
        fake_stop(&d);
}

TEST(test_any_order)
{
        enum { N = 500 };
        struct fake_daemon d;
        struct heard h[N] = { 0 };
        uint64_t ids[N];

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        for (int round = 0; round < 2; round++) { /* the second uses the same slots */
                for (int i = 0; i < N; i++)
                        assert_int_equal(send_status(r, 0, DEADLINE_MS, &h[i], &ids[i]), 0);
                take_requests(r, &d, N);
                for (int i = N; i-- > 0;)
                        reply_to(&d, ids[i]);
                for (int i = 0; i < N; i++)
                        wait_last(r, &h[i], round + 1);
        }
        hw_requester_destroy(&r);
        fake_stop(&d);
}

TEST(test_two_daemons)
{
        struct fake_daemon a, b;
        struct heard of_a = { 0 }, of_b = { 0 };
        uint64_t id_a, id_b;

        fake_start(&a, 1);
        fake_start(&b, 2);
        const char *endpoints[] = { a.endpoint, b.endpoint };
        struct hw_requester *r = hw_requester_new(endpoints, 2);
        assert_non_null(r);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &of_a, &id_a), 0);
        assert_int_equal(send_status(r, 1, DEADLINE_MS, &of_b, &id_b), 0);
        assert_int_equal(send_status(r, 2, DEADLINE_MS, &of_b, NULL), -EINVAL);
        take_requests(r, &a, 1);
        take_requests(r, &b, 1);
        reply_to(&b, id_a); /* not b's to answer */
        reply_to(&b, id_b);
        wait_last(r, &of_b, 1);
        assert_int_equal(of_a.last, 0);
        reply_to(&a, id_a);
        wait_last(r, &of_a, 1);
        hw_requester_destroy(&r);
        fake_stop(&a);
        fake_stop(&b);
}

TEST(test_deadlines)
{
        struct fake_daemon d;
        struct heard slow = { 0 }, quick = { 0 }, unsent = { 0 };

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &slow, NULL), 0);
        take_requests(r, &d, 1);
        assert_int_equal(send_status(r, 0, 50, &quick, NULL), 0);
        wait_last(r, &quick, 1);
        assert_int_equal(quick.status, -ETIMEDOUT);
        assert_int_equal(slow.last, 0);
        hw_requester_destroy(&r);
        assert_int_equal(slow.status, -ECANCELED);
        fake_stop(&d);

        const char *nobody = "ipc:///run/hw-nobody/publish";
        r = hw_requester_new(&nobody, 1);
        assert_int_equal(send_status(r, 0, 50, &unsent, NULL), 0);
        wait_last(r, &unsent, 1);
        assert_int_equal(unsent.status, -ENOTCONN);
        hw_requester_destroy(&r);
        assert_null(r);
        hw_requester_destroy(&r);
}

/* A refusal by the rate limit delays this request and the others, and is not reported; but deadlines hold. */
TEST(test_asked_too_often)
{
        struct fake_daemon d;
        struct heard first = { 0 }, second = { 0 }, hasty = { 0 };
        Hw__Reply refusal = HW__REPLY__INIT;

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &first, NULL), 0);
        take_requests(r, &d, 1);
        uint64_t id = d.id, began_ms = clock_mono_ms();
        refusal.error = (char *)"too many requests";
        refusal.what_case = HW__REPLY__WHAT_RETRY_AFTER_NS;
        refusal.retry_after_ns = 300 * UINT64_C(1000000);
        fake_reply(&d, &refusal);
        while (clock_mono_ms() < began_ms + 100)
                turn(r); /* it receives the refusal */
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &second, NULL), 0);
        assert_int_equal(send_status(r, 0, 50, &hasty, NULL), 0);
        take_requests(r, &d, 1);
        assert_true(clock_mono_ms() >= began_ms + 300);
        assert_int_equal(d.id, id);
        assert_int_equal(hasty.last, 1);
        assert_int_equal(hasty.status, -ENOTCONN);
        reply_to(&d, id);
        take_requests(r, &d, 1);
        reply_to(&d, d.id);
        wait_last(r, &first, 1);
        wait_last(r, &second, 1);
        assert_int_equal(first.status, HW_REPLY_LAST);

        refusal.retry_after_ns = UINT64_MAX; /* longer than its time-out: the status says why */
        assert_int_equal(send_status(r, 0, 200, &first, NULL), 0);
        take_requests(r, &d, 1);
        fake_reply(&d, &refusal);
        wait_last(r, &first, 2);
        assert_int_equal(first.status, -EBUSY);
        assert_non_null(hw_reply_error(-EBUSY));
        hw_requester_destroy(&r);
        fake_stop(&d);
}

/* Of several that were refused one is under way at a time: not all of them again at once. */
TEST(test_one_at_a_time_after_a_refusal)
{
        struct fake_daemon d;
        struct heard heard[5] = { { 0 } };
        Hw__Reply refusal = HW__REPLY__INIT;

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        refusal.error = (char *)"too many requests";
        refusal.what_case = HW__REPLY__WHAT_RETRY_AFTER_NS;
        refusal.retry_after_ns = 1000000;
        for (unsigned i = 0; i < 5; i++)
                assert_int_equal(send_status(r, 0, DEADLINE_MS, &heard[i], NULL), 0);
        for (unsigned i = 0; i < 5; i++) {
                take_requests(r, &d, 1);
                fake_reply(&d, &refusal);
        }
        for (unsigned i = 0; i < 5; i++) {
                take_requests(r, &d, 1);
                const uint64_t until_ms = clock_mono_ms() + 20;
                while (clock_mono_ms() < until_ms)
                        turn(r);
                assert_null(fake_take_request(&d)); /* no other one */
                if (i == 2) {                       /* again */
                        fake_reply(&d, &refusal);
                        take_requests(r, &d, 1);
                }
                reply_to(&d, d.id);
        }
        for (unsigned i = 0; i < 5; i++)
                wait_last(r, &heard[i], 1);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &heard[0], NULL), 0); /* and then as before */
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &heard[1], NULL), 0);
        take_requests(r, &d, 2);
        hw_requester_destroy(&r);
        fake_stop(&d);
}

TEST(test_queue_is_bounded)
{
        const char *nobody = "ipc:///run/hw-nobody/publish";
        struct hw_requester *r = hw_requester_new(&nobody, 1);
        struct heard h = { 0 };
        uint64_t first, last = 0;

        assert_int_equal(send_status(r, 0, -1, &h, &first), 0);
        for (int i = 1; i < HW_REQUESTS_MAX; i++)
                assert_int_equal(send_status(r, 0, -1, &h, &last), 0);
        assert_int_equal(send_status(r, 0, -1, &h, NULL), -ENOBUFS);
        hw_requester_cancel(r, first);
        hw_requester_cancel(r, first); /* of a request that is done */
        hw_requester_cancel(r, last);
        assert_int_equal(hw_requester_pump(r), HW_REQUESTS_MAX - 2);
        assert_int_equal(send_status(r, 0, -1, &h, NULL), 0);
        assert_int_equal(h.last, 0);
        hw_requester_destroy(&r);
        assert_int_equal(h.last, HW_REQUESTS_MAX - 1);
        assert_int_equal(h.status, -ECANCELED);
}

TEST(test_reconnect)
{
        struct fake_daemon d;
        struct heard lost = { 0 }, later = { 0 };
        uint64_t id;

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, 1000, &lost, NULL), 0);
        take_requests(r, &d, 1);
        fake_unbind(&d);
        wait_last(r, &lost, 1); /* its daemon is gone, and it is not repeated */
        assert_int_equal(lost.status, -ETIMEDOUT);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &later, &id), 0); /* waits for the next one */
        fake_bind(&d);
        take_requests(r, &d, 1);
        assert_int_equal(d.id, id);
        reply_to(&d, id);
        wait_last(r, &later, 1);
        assert_int_equal(later.status, HW_REPLY_LAST);
        hw_requester_destroy(&r);
        fake_stop(&d);
}

static void send_raw(struct fake_daemon *d, const char *bytes, size_t n)
{
        (void)zmq_send(d->request, zmq_msg_data(&d->peer), zmq_msg_size(&d->peer), ZMQ_SNDMORE);
        (void)zmq_send(d->request, bytes, n, 0);
}

TEST(test_malformed)
{
        struct fake_daemon d;
        struct heard alone = { 0 }, a = { 0 }, b = { 0 };
        uint64_t ids[2];

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &alone, NULL), 0);
        take_requests(r, &d, 1);
        send_raw(&d, "\xff\xff", 2);
        wait_last(r, &alone, 1);
        assert_int_equal(alone.status, -EPROTO);

        assert_int_equal(send_status(r, 0, DEADLINE_MS, &a, &ids[0]), 0);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &b, &ids[1]), 0);
        take_requests(r, &d, 2);
        send_raw(&d, "\xff\xff", 2); /* the request of this is unknown */
        reply_to(&d, ids[1]);
        wait_last(r, &b, 1);
        assert_int_equal(b.status, HW_REPLY_LAST);
        assert_int_equal(a.last, 0);

        Hw__Reply refusal = HW__REPLY__INIT; /* to a request that the daemon could not read */
        uint8_t packed[64];
        refusal.error = (char *)(uintptr_t) "unreadable";
        send_raw(&d, (const char *)packed, hw__reply__pack(&refusal, packed));
        wait_last(r, &a, 1);
        assert_int_equal(a.status, HW_REPLY_LAST);
        hw_requester_destroy(&r);
        fake_stop(&d);
}

TEST(test_handler_sends_and_cancels)
{
        struct fake_daemon d;
        struct heard h = { 0 }, other = { 0 };
        uint64_t id;

        fake_start(&d, 77);
        struct hw_requester *r = requester(&d);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &h, &id), 0);
        assert_int_equal(send_status(r, 0, DEADLINE_MS, &other, &h.cancel), 0);
        h.again = r;
        take_requests(r, &d, 2);
        reply_to(&d, id);
        wait_last(r, &h, 1);
        take_requests(r, &d, 50);
        assert_int_equal(hw_requester_pump(r), 50);
        reply_to(&d, h.cancel);
        reply_to(&d, d.id); /* unknown again, or the last one's: either way no handler is called twice */
        h.again = r;        /* from within destroy nothing is sent any more */
        hw_requester_destroy(&r);
        assert_int_equal(other.last, 0);
        assert_int_equal(h.last, 51);
        fake_stop(&d);
}

TEST(test_refused_endpoints)
{
        const char *bad[] = { "nonsense", "ipc:///tmp/nothing-to-replace" };

        for (size_t i = 0; i < 2; i++) {
                errno = 0;
                assert_null(hw_requester_new(&bad[i], 1));
                assert_int_equal(errno, EINVAL);
        }
        assert_string_equal(hw_reply_error(-ETIMEDOUT), "the daemon did not answer");
}
