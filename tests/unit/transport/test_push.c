/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lossless transport: nothing is lost however slowly the client reads, memory does
 * not grow, and neither a send nor the end hangs when the client is gone.
 *
 * push.h takes its parent for the client. So each test forks a client, which
 * forks the sender; the test itself watches both from outside, and makes no
 * ZeroMQ context of its own.
 */
#include "tests/unit/publish/support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/transport/push.h"
#include "proto/base/error.h"

#define ROWS 20000 /* of a large census: about 200 KiB */

static char dir[64], endpoint[96];

struct report {
        int status; /* of the last send */
        uint64_t sent;
        bool ended; /* push_destroy returned */
};

static int send_census(struct update_sink sink, uint64_t sequence, uint32_t *bands, uint64_t *bytes)
{
        Hw__Update update = HW__UPDATE__INIT;
        Hw__Census census = HW__CENSUS__INIT;

        update.target = (char *)"t";
        update.has_sequence = 1;
        update.sequence = sequence;
        update.body_case = HW__UPDATE__BODY_CENSUS;
        update.census = &census;
        for (uint32_t i = 0; i < ROWS; i++) {
                bands[i] = i + 1;
                bytes[i] = sequence * 1000000 + i;
        }
        census.n_band = census.n_bytes = ROWS;
        census.band = bands;
        census.bytes = bytes;
        return sink.send(sink.ctx, &update);
}

/* The daemon's part: sends n censuses, closes, and reports through the pipe. */
static void run_sender(int report_fd, uint64_t n)
{
        static uint32_t bands[ROWS];
        static uint64_t bytes[ROWS];
        struct report report = { 0 };
        struct error error;
        struct push *push = push_new(endpoint, &error);

        if (!push)
                _exit(3);
        while (report.sent < n && report.status == 0) {
                report.status = send_census(push_sink(push), report.sent + 1, bands, bytes);
                report.sent += report.status == 0;
        }
        (void)!write(report_fd, &report, sizeof(report));
        push_destroy(&push);
        report.ended = push == NULL;
        (void)!write(report_fd, &report, sizeof(report));
        _exit(0);
}

struct client {
        void *context, *pull;
};

/* Forks the sender (before there is a ZeroMQ context), binds, and then lets the sender begin. */
static struct client open_client(int report_fd, uint64_t n, pid_t *ret_sender)
{
        struct client c = { .context = NULL };
        int go[2];
        char byte;

        if (pipe(go))
                _exit(5);
        *ret_sender = fork();
        if (*ret_sender == 0) {
                close(go[1]);
                (void)!read(go[0], &byte, 1);
                run_sender(report_fd, n);
        }
        c.context = zmq_ctx_new();
        c.pull = zmq_socket(c.context, ZMQ_PULL);
        set_socket_int(c.pull, ZMQ_RCVHWM, 1);
        set_socket_int(c.pull, ZMQ_LINGER, 0);
        set_socket_int(c.pull, ZMQ_RCVTIMEO, DEADLINE_MS);
        if (zmq_bind(c.pull, endpoint))
                _exit(4);
        (void)!write(go[1], "g", 1);
        return c;
}

/* Whether the next message is census `sequence`, whole. */
static bool receive_census(struct client *c, uint64_t sequence)
{
        char topic[HW_TOPIC_MAX] = "";
        const char *reason;
        zmq_msg_t msg;

        if (zmq_recv(c->pull, topic, sizeof(topic) - 1, 0) < 0 || strcmp(topic, "hw1/census/t/") != 0)
                return false;
        zmq_msg_init(&msg);
        if (zmq_msg_recv(&msg, c->pull, 0) < 0)
                return false;
        Hw__Update *u = hw_update_unpack(zmq_msg_data(&msg), zmq_msg_size(&msg), &reason);
        bool good = u && u->sequence == sequence && u->census && u->census->n_bytes == ROWS &&
                    u->census->bytes[ROWS - 1] == sequence * 1000000 + ROWS - 1;
        zmq_msg_close(&msg);
        if (u)
                hw_update_unref(u);
        return good;
}

/* Reads one report before the deadline. */
static struct report read_report(int fd)
{
        struct report report = { .status = 1 };
        struct pollfd p = { .fd = fd, .events = POLLIN };

        assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
        assert_int_equal(read(fd, &report, sizeof(report)), sizeof(report));
        return report;
}

static int set_up(void **state)
{
        (void)state;
        make_dir(dir);
        (void)snprintf(endpoint, sizeof(endpoint), "ipc://%s/once", dir);
        return 0;
}

static int tear_down(void **state)
{
        (void)state;
        (void)unlink(endpoint + strlen("ipc://"));
        return rmdir(dir);
}

/* 300 large censuses (60 MiB) to a client that starts late and reads slowly: all arrive, in order. */
static void test_nothing_is_lost(void **state)
{
        enum { N = 300 };
        int fds[2], status;

        (void)state;
        assert_int_equal(pipe(fds), 0);
        pid_t client = fork();
        if (client == 0) {
                pid_t sender;
                struct client c = open_client(fds[1], N, &sender);
                (void)nanosleep(&(struct timespec){ .tv_nsec = 300 * 1000000L }, NULL); /* the pipe fills */
                for (uint64_t i = 1; i <= N; i++)
                        if (!receive_census(&c, i))
                                _exit(6);
                waitpid(sender, &status, 0);
                _exit(status ? 7 : 0);
        }
        struct report report = read_report(fds[0]);
        assert_int_equal(report.status, 0);
        assert_int_equal(report.sent, N);
        assert_true(read_report(fds[0]).ended);
        assert_int_equal(waitpid(client, &status, 0), client);
        assert_int_equal(status, 0);
        close(fds[0]);
        close(fds[1]);
}

/* What the client does after taking two censuses. */
enum ending { DIES, CLOSES, STOPS_READING };

/* Starts both; the client takes two censuses, tells so with a byte, and then ends as told. Returns the client. */
static pid_t start_pair(enum ending ending, int report_fd, int told_fd, uint64_t n)
{
        pid_t client = fork();

        if (client)
                return client;
        pid_t sender;
        struct client c = open_client(report_fd, n, &sender);
        if (!receive_census(&c, 1) || !receive_census(&c, 2))
                _exit(6);
        (void)!write(told_fd, "t", 1);
        if (ending == CLOSES) {
                zmq_close(c.pull);
                zmq_ctx_term(c.context);
        }
        while (ending != DIES)
                pause();
        raise(SIGKILL);
        _exit(0);
}

struct scene {
        pid_t client;
        int reports[2], told[2];
};

static void begin(struct scene *s, enum ending ending, uint64_t n)
{
        char byte;
        struct pollfd p;

        assert_int_equal(pipe(s->reports), 0);
        assert_int_equal(pipe(s->told), 0);
        s->client = start_pair(ending, s->reports[1], s->told[1], n);
        p = (struct pollfd){ .fd = s->told[0], .events = POLLIN };
        assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
        assert_int_equal(read(s->told[0], &byte, 1), 1);
}

static void end(struct scene *s)
{
        kill(s->client, SIGKILL);
        assert_int_equal(waitpid(s->client, NULL, 0), s->client);
        for (int i = 0; i < 2; i++) {
                close(s->reports[i]);
                close(s->told[i]);
        }
}

/* A client that is killed, or that closes its socket, ends a send that waits with -EPIPE. */
static void send_ends(enum ending ending)
{
        struct scene s;

        begin(&s, ending, 1000000);
        struct report report = read_report(s.reports[0]);
        assert_int_equal(report.status, -EPIPE);
        assert_in_range(report.sent, 2, 1000); /* it did wait before, it did not pile up */
        assert_true(read_report(s.reports[0]).ended);
        end(&s);
}

static void test_client_killed(void **state)
{
        (void)state;
        send_ends(DIES);
}

static void test_client_closes(void **state)
{
        (void)state;
        send_ends(CLOSES);
}

/* All was accepted but not all was read: the end waits for the client, and no longer than it lives. */
static void test_end_waits_for_delivery(void **state)
{
        struct scene s;
        struct pollfd p;

        (void)state;
        begin(&s, STOPS_READING, 30);
        assert_int_equal(read_report(s.reports[0]).sent, 30);
        p = (struct pollfd){ .fd = s.reports[0], .events = POLLIN };
        assert_int_equal(poll(&p, 1, 300), 0); /* it waits */
        kill(s.client, SIGKILL);
        assert_true(read_report(s.reports[0]).ended);
        end(&s);
}

static void test_refused_endpoint(void **state)
{
        struct error error = { "" };

        (void)state;
        assert_null(push_new("tcp://127.0.0.1:5000", &error));
        assert_non_null(strstr(error.text, "expected an ipc endpoint"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_nothing_is_lost, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_client_killed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_client_closes, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_end_waits_for_delivery, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_refused_endpoint, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
