/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers that wait for room, of clients that take them and of one that does not. */
#include "tests/unit/publish/support.h"

#include "daemon/watch/control/pending.h"
#include "daemon/log.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

#define STUCK_JOBS  8
#define REPLY_BYTES (1 << 20)

struct fixture {
        struct event_base *base;
        struct bus *bus;
        struct pending *pending;
        void *context;
        char dir[64], publish[96], request[96];
        char text[REPLY_BYTES + 1];
        struct error error;
        unsigned asked;
        void *clients[2];
};

static void on_request(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        struct fixture *f = ctx;

        f->asked++;
        pending_keep(f->pending, request, client);
}

static void on_again(void *ctx, const Hw__Request *request, struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        struct fixture *f = ctx;

        reply.error = f->text;
        bus_reply(client, &reply);
}

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        *state = f;
        log_set_level(LOG_ERROR);
        memset(f->text, 'x', REPLY_BYTES);
        make_dir(f->dir);
        (void)snprintf(f->publish, sizeof(f->publish), "ipc://%s/publish", f->dir);
        (void)snprintf(f->request, sizeof(f->request), "ipc://%s/request", f->dir);
        f->base = event_base_new();
        assert_int_equal(event_base_priority_init(f->base, 2), 0);
        const struct bus_options options = {
                .publish_endpoint = f->publish, .request_endpoint = f->request, .memory = 1 /* the least room */
        };
        const struct bus_handler handler = { .ctx = f, .request = on_request };
        const struct bus_handler again = { .ctx = f, .request = on_again };
        f->bus = bus_new(f->base, &options, &handler, &f->error);
        assert_non_null(f->bus);
        f->pending = pending_new(f->base, NULL, f->bus, &again);
        assert_non_null(f->pending);
        f->context = zmq_ctx_new();
        return 0;
}

static int tear_down(void **state)
{
        struct fixture *f = *state;

        for (int i = 0; i < 2; i++)
                if (f->clients[i])
                        zmq_close(f->clients[i]);
        zmq_ctx_term(f->context);
        pending_destroy(&f->pending);
        bus_destroy(&f->bus);
        event_base_free(f->base);
        assert_int_equal(rmdir(f->dir), 0);
        free(f);
        return 0;
}

static void *new_client(struct fixture *f)
{
        void *s = zmq_socket(f->context, ZMQ_DEALER);

        set_socket_int(s, ZMQ_RCVHWM, 1);
        set_socket_int(s, ZMQ_LINGER, 0);
        assert_int_equal(zmq_connect(s, f->request), 0);
        return s;
}

static void ask(struct fixture *f, void *client)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        const unsigned asked = f->asked;
        uint8_t bytes[64];

        request.what_case = HW__REQUEST__WHAT_STATUS;
        request.status = &status;
        const size_t n = hw__request__pack(&request, bytes);
        assert_int_equal(zmq_send(client, bytes, n, 0), n);
        TURN_UNTIL(f->base, f->asked > asked);
}

/*
 * A process has a connection that it does not read, with more answers under way than there is room for, and another
 * that it reads: that one has its answer once the first is shut down, whichever of them is looked at first.
 */
TEST_WITH(test_one_that_reads_is_not_kept_waiting_by_one_that_does_not, set_up, tear_down)
{
        struct fixture *f = *state;
        zmq_msg_t answer;

        f->clients[0] = new_client(f);
        for (int i = 0; i < STUCK_JOBS; i++)
                ask(f, f->clients[0]);
        f->clients[1] = new_client(f);
        ask(f, f->clients[1]);
        zmq_pollitem_t item = { .socket = f->clients[1], .events = ZMQ_POLLIN };
        TURN_UNTIL(f->base, zmq_poll(&item, 1, 0) == 1);
        zmq_msg_init(&answer);
        assert_true(zmq_msg_recv(&answer, f->clients[1], 0) > REPLY_BYTES); /* it was not given up */
        zmq_msg_close(&answer);
}

/* A field with number 0, written in two bytes, is read; as it is packed again, it is not. */
TEST_WITH(test_one_that_cannot_be_read_again_has_an_answer, set_up, tear_down)
{
        static const uint8_t bytes[] = { 0x82, 0x00, 0x00, 0x1a, 0x00 };
        struct fixture *f = *state;
        zmq_msg_t answer;

        f->clients[0] = new_client(f);
        assert_int_equal(zmq_send(f->clients[0], bytes, sizeof(bytes), 0), sizeof(bytes));
        TURN_UNTIL(f->base, f->asked == 1);
        TURN_UNTIL(f->base, pending_count(f->pending) == 0);
        zmq_pollitem_t item = { .socket = f->clients[0], .events = ZMQ_POLLIN };
        TURN_UNTIL(f->base, zmq_poll(&item, 1, 0) == 1);
        zmq_msg_init(&answer);
        assert_in_range(zmq_msg_recv(&answer, f->clients[0], 0), 1, 1000); /* an error */
        zmq_msg_close(&answer);
}
