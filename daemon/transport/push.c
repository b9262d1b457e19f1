/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a blocking PUSH with a small high-water mark: when the client does
 * not read, the pipe fills and we wait, so nothing piles up however large the
 * logs are. The mark is never changed: libzmq's reader (4.3.4) acknowledges at
 * every half of the old mark, so with a lower one we would wait forever. The
 * client was started before us and already listens.
 *
 * Messages are sent in bursts. Sent one by one, each would find ZeroMQ's I/O
 * thread asleep and wake it: some 20 us of processor time per message, as much
 * as making it (8,250 censuses of 446 bands: 416 ms, of which 190 ms for that).
 *
 * The client is gone when we have another parent, or when its end of the
 * connection is closed, which a monitor reports; a waiting send checks both
 * every POLL_MS. It does not come back, so the socket never reconnects.
 *
 * A message is delivered when the client has read it, not when the kernel has
 * it: libzmq discards what a connection still holds when it was too busy to
 * read and the other end closes (4.3.4). So we keep a second descriptor of the
 * connection, which keeps it open, until the kernel's queue is empty.
 *
 * The end is zmq_ctx_term, which waits until all is delivered and cannot be
 * made to give up (measured on libzmq 4.3.4: without reconnection it never
 * returns, even with no linger). So it runs on a thread of its own, which is
 * abandoned when the client is gone: the process ends next.
 */
#include "daemon/transport/push.h"
#include "proto/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define HIGH_WATER_MARK 128                  /* messages; the largest are some hundred KiB */
#define BURST_MESSAGES  32u                  /* held back until there are this many ... */
#define BURST_BYTES     ((size_t)128 * 1024) /* ... or this many bytes */
#define POLL_MS         100
#define MONITOR         "inproc://heapwatch-push"

struct held {
        zmq_msg_t topic, body;
};

struct push {
        void *context;
        void *push;
        void *monitor;  /* PAIR: reports when the connection begins and ends */
        int connection; /* second descriptor of it; -1: none yet */
        pid_t parent;
        bool gone;
        struct held held[BURST_MESSAGES];
        size_t n_held, held_bytes;
};

/* Keeps the connection open after libzmq has closed it. */
static void hold(struct push *push, uint32_t fd)
{
        if (push->connection < 0)
                push->connection = fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
}

/* Waits until the client has read all that the kernel has for it, or has closed its end, or is gone. */
static void wait_until_read(struct push *push)
{
        static const struct timespec pause = { 0, 2000000 };
        int unread = 0;

        while (push->connection >= 0 && ioctl(push->connection, SIOCOUTQ, &unread) == 0 && unread > 0 &&
               getppid() == push->parent)
                (void)nanosleep(&pause, NULL);
        if (push->connection >= 0)
                (void)close(push->connection);
}

/* Reads the monitor's reports. Returns whether the connection has ended. */
static bool is_disconnected(struct push *push)
{
        uint8_t frame[512];
        int n;

        /* Two frames: the event (u16) with its value (u32), then the address. */
        while ((n = zmq_recv(push->monitor, frame, sizeof(frame), ZMQ_DONTWAIT)) >= 0) {
                int more = 0;
                size_t size = sizeof(more);
                uint16_t event;
                uint32_t value;
                if (zmq_getsockopt(push->monitor, ZMQ_RCVMORE, &more, &size) == 0 && more && n == 6) {
                        memcpy(&event, frame, sizeof(event));
                        memcpy(&value, frame + sizeof(event), sizeof(value));
                        if (event & ZMQ_EVENT_CONNECTED)
                                hold(push, value);
                        if (event & (ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED))
                                return true;
                }
        }
        return false;
}

static bool is_gone(struct push *push)
{
        if (!push->gone)
                push->gone = getppid() != push->parent || is_disconnected(push);
        return push->gone;
}

/* Sends one frame as soon as the client takes it. Returns 0 or -EPIPE; the message is consumed only on success. */
static int send_frame(struct push *push, zmq_msg_t *msg, int flags)
{
        while (!push->gone) {
                if (zmq_msg_send(msg, push->push, flags) >= 0)
                        return 0;
                if (errno != EAGAIN && errno != EINTR)
                        return -errno;
                if (is_gone(push))
                        break;
        }
        return -EPIPE;
}

/* Sends all that is held; what cannot be sent is lost. */
static int send_held(struct push *push)
{
        int status = 0;

        for (size_t i = 0; i < push->n_held; i++) {
                struct held *h = &push->held[i];
                if (status == 0)
                        status = send_frame(push, &h->topic, ZMQ_SNDMORE);
                if (status == 0)
                        status = send_frame(push, &h->body, 0);
                (void)zmq_msg_close(&h->topic);
                (void)zmq_msg_close(&h->body);
        }
        push->n_held = push->held_bytes = 0;
        return status;
}

/* The update as two frames. False when out of memory. */
static bool make_frames(struct held *h, const Hw__Update *update)
{
        char topic[HW_TOPIC_MAX];
        size_t topic_size = hw_topic(topic, hw_update_kind(update), update->target ? update->target : "");

        if (zmq_msg_init_size(&h->topic, topic_size))
                return false;
        if (zmq_msg_init_size(&h->body, hw__update__get_packed_size(update))) {
                (void)zmq_msg_close(&h->topic);
                return false;
        }
        memcpy(zmq_msg_data(&h->topic), topic, topic_size);
        (void)hw__update__pack(update, zmq_msg_data(&h->body));
        return true;
}

static int send_update(void *ctx, const Hw__Update *update)
{
        struct push *push = ctx;
        struct held *h = &push->held[push->n_held];

        if (!make_frames(h, update))
                return -ENOMEM;
        push->n_held++;
        push->held_bytes += zmq_msg_size(&h->body);
        return push->n_held < BURST_MESSAGES && push->held_bytes < BURST_BYTES ? 0 : send_held(push);
}

static bool set_int(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

static bool open_sockets(struct push *push)
{
        push->context = zmq_ctx_new();
        if (!push->context)
                return false;
        push->push = zmq_socket(push->context, ZMQ_PUSH);
        push->monitor = zmq_socket(push->context, ZMQ_PAIR);
        return push->push && push->monitor && set_int(push->push, ZMQ_SNDHWM, HIGH_WATER_MARK) &&
               set_int(push->push, ZMQ_SNDTIMEO, POLL_MS) && set_int(push->push, ZMQ_LINGER, -1) &&
               set_int(push->push, ZMQ_RECONNECT_IVL, -1) && set_int(push->monitor, ZMQ_LINGER, 0) &&
               zmq_socket_monitor(push->push, MONITOR, ZMQ_EVENT_ALL) == 0 && zmq_connect(push->monitor, MONITOR) == 0;
}

struct push *push_new(const char *endpoint, struct error *error)
{
        struct push *push = calloc(1, sizeof(*push));

        if (!push) {
                error_set(error, "out of memory");
                return NULL;
        }
        push->parent = getppid();
        push->connection = -1;
        if (strncmp(endpoint, "ipc://", 6) != 0) {
                error_set(error, "%s: expected an ipc endpoint", endpoint);
        } else if (!open_sockets(push)) {
                error_set(error, "cannot open a socket: %s", zmq_strerror(errno));
        } else if (zmq_connect(push->push, endpoint)) {
                error_set(error, "%s: cannot connect: %s", endpoint, zmq_strerror(errno));
        } else {
                return push;
        }
        push->gone = true; /* nothing to deliver */
        push_destroy(&push);
        return NULL;
}

static void *terminate(void *context)
{
        while (zmq_ctx_term(context) && errno == EINTR)
                ;
        return NULL;
}

/* Whether the thread ended within POLL_MS. */
static bool has_ended(pthread_t thread)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += POLL_MS * 1000000L;
        if (t.tv_nsec >= 1000000000L) {
                t.tv_nsec -= 1000000000L;
                t.tv_sec++;
        }
        return pthread_timedjoin_np(thread, NULL, &t) == 0;
}

/* Ends the context, or abandons it when the client is gone. */
static void end_context(struct push *push)
{
        pthread_t thread;

        if (pthread_create(&thread, NULL, terminate, push->context)) {
                terminate(push->context);
                return;
        }
        while (!has_ended(thread)) {
                if (push->gone || getppid() != push->parent) {
                        (void)pthread_detach(thread);
                        return;
                }
        }
}

void push_destroy(struct push **o)
{
        struct push *push = *o;

        if (!push)
                return;
        if (push->push) {
                (void)send_held(push); /* a client that is gone needs nothing */
                if (is_gone(push))
                        (void)set_int(push->push, ZMQ_LINGER, 0);
                (void)zmq_socket_monitor(push->push, NULL, 0);
                (void)zmq_close(push->push);
        }
        if (push->monitor)
                (void)zmq_close(push->monitor);
        if (push->context)
                end_context(push);
        wait_until_read(push);
        free(push);
        *o = NULL;
}

struct update_sink push_sink(struct push *push)
{
        return (struct update_sink){ .ctx = push, .send = send_update };
}
