/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the loop pushes each update, topic and body, into an inproc pipe. The
 * thread moves it from there to its XPUB, and reads subscriptions from that. A
 * message of one frame is a command to the thread: "pause" while the loop uses
 * the XPUB (new keys, another bind); empty, to end. The pipe holds far more than
 * a second's updates. It is full only while the thread is stuck; then the update
 * is dropped for everybody, and subscribers see the gap and ask for a snapshot.
 *
 * XPUB gives the descriptor of each subscription (ZMQ_SRCFD), and with
 * ZMQ_XPUB_VERBOSER it reports each of them, at the end of a connection too.
 * They are counted by descriptor, and a connection with too many is shut down:
 * ZeroMQ then sees its end like any other. By then the descriptor may belong to
 * another connection, which has another inode; and only a connection that was
 * accepted at our own address is ever shut down.
 */
#include "daemon/transport/broadcast.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/log.h"
#include "daemon/transport/connections.h"
#include "daemon/transport/limits.h"
#include "proto/base/array.h"

#define FEED      "inproc://broadcast"
#define TURN      256    /* messages in one direction before those in the other */
#define MAX_PEERS 65536u /* descriptors: there are none above */

/* What a descriptor has subscribed to. */
struct peer {
        uint64_t inode; /* of its socket: tells it from a later one with this descriptor */
        uint32_t subscriptions;
        bool shut; /* what still arrives was sent before */
};

struct broadcast {
        void *feed;  /* PUSH; used by the loop */
        void *taken; /* PULL; this and what follows is used by the thread */
        void *publish;
        pthread_t thread;
        bool started;
        unsigned most;      /* subscriptions of all */
        struct peer *peers; /* by descriptor */
        size_t n_peers;
        atomic_uint_fast64_t subscriptions, disconnected;
        pthread_mutex_t lock; /* guards what follows */
        pthread_cond_t changed;
        bool pause, is_paused; /* requested; reached */
};

/* ------------------------------------------------------------ subscriptions */

static struct peer *peer_of(struct broadcast *b, int fd)
{
        struct stat st;

        if (fd < 0 || (unsigned)fd >= MAX_PEERS || fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
                return NULL;
        if (!ARRAY_RESERVE_ZEROED(b->peers, b->n_peers, (size_t)fd + 1))
                return NULL;
        if (b->peers[fd].inode != st.st_ino)
                b->peers[fd] = (struct peer){ .inode = st.st_ino };
        return &b->peers[fd];
}

static bool disconnect(struct broadcast *b, int fd, uint32_t n)
{
        if (!connections_is_subscriber(fd) || shutdown(fd, SHUT_RDWR) != 0)
                return false;
        atomic_fetch_add(&b->disconnected, 1);
        log_warning("a subscriber is disconnected: it has %" PRIu32
                    " subscriptions of %llu in all; the limits are %u "
                    "and %u",
                    n, (unsigned long long)atomic_load(&b->subscriptions), LIMIT_SUBSCRIPTIONS_OF_ONE, b->most);
        return true;
}

static void subscribed(struct broadcast *b, int fd)
{
        struct peer *peer = peer_of(b, fd);
        const uint64_t all = atomic_fetch_add(&b->subscriptions, 1) + 1;

        if (peer && !peer->shut && (++peer->subscriptions > LIMIT_SUBSCRIPTIONS_OF_ONE || all > b->most))
                peer->shut = disconnect(b, fd, peer->subscriptions);
        log_debug("subscriptions=%llu added", (unsigned long long)all);
}

/* At the end of a connection fd is -1. */
static void unsubscribed(struct broadcast *b, int fd)
{
        struct peer *peer = fd < 0 ? NULL : peer_of(b, fd);

        if (peer && peer->subscriptions > 0)
                peer->subscriptions--;
        if (atomic_load(&b->subscriptions) > 0)
                atomic_fetch_sub(&b->subscriptions, 1);
        log_debug("subscriptions=%llu removed", (unsigned long long)atomic_load(&b->subscriptions));
}

/* False: there is none. Other messages are ignored. */
static bool take_subscription(struct broadcast *b)
{
        zmq_msg_t msg;

        (void)zmq_msg_init(&msg);
        const bool some = zmq_msg_recv(&msg, b->publish, ZMQ_DONTWAIT) >= 0;
        const uint8_t *data = zmq_msg_data(&msg);
        if (some)
                connections_read(zmq_msg_get(&msg, ZMQ_SRCFD), zmq_msg_size(&msg));
        if (some && zmq_msg_size(&msg) > 0 && data[0] == 1)
                subscribed(b, zmq_msg_get(&msg, ZMQ_SRCFD));
        else if (some && zmq_msg_size(&msg) > 0 && data[0] == 0)
                unsubscribed(b, zmq_msg_get(&msg, ZMQ_SRCFD));
        (void)zmq_msg_close(&msg);
        return some;
}

/* ------------------------------------------------------------------ updates */

enum taken { TAKEN_NONE, TAKEN_ONE, TAKEN_LAST };

/* Until the loop no longer uses the XPUB. */
static void wait_paused(struct broadcast *b)
{
        (void)pthread_mutex_lock(&b->lock);
        b->is_paused = true;
        (void)pthread_cond_broadcast(&b->changed);
        while (b->pause)
                (void)pthread_cond_wait(&b->changed, &b->lock);
        b->is_paused = false;
        (void)pthread_mutex_unlock(&b->lock);
}

static enum taken pass_on(struct broadcast *b)
{
        zmq_msg_t topic, body;
        enum taken taken = TAKEN_ONE;

        (void)zmq_msg_init(&topic);
        if (zmq_msg_recv(&topic, b->taken, ZMQ_DONTWAIT) < 0) {
                taken = errno == EAGAIN || errno == EINTR ? TAKEN_NONE : TAKEN_LAST;
                (void)zmq_msg_close(&topic);
                return taken;
        }
        if (!zmq_msg_more(&topic)) {
                const bool last = zmq_msg_size(&topic) == 0;
                (void)zmq_msg_close(&topic);
                if (!last)
                        wait_paused(b);
                return last ? TAKEN_LAST : TAKEN_ONE;
        }
        (void)zmq_msg_init(&body);
        (void)zmq_msg_recv(&body, b->taken, 0); /* all parts of a message arrive at once */
        if (zmq_msg_send(&topic, b->publish, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(&body, b->publish, ZMQ_DONTWAIT) < 0) { /* out of memory: XPUB itself never refuses */
                (void)zmq_msg_close(&topic);
                (void)zmq_msg_close(&body);
        }
        return taken;
}

/* False: that was the command to end. */
static bool turn(struct broadcast *b)
{
        enum taken taken = TAKEN_ONE;

        for (unsigned i = 0; i < TURN && take_subscription(b); i++)
                ;
        for (unsigned i = 0; i < TURN && taken == TAKEN_ONE; i++)
                taken = pass_on(b);
        return taken != TAKEN_LAST;
}

static void *broadcast_all(void *ctx)
{
        struct broadcast *b = ctx;

        do {
                zmq_pollitem_t items[] = { { .socket = b->taken, .events = ZMQ_POLLIN },
                                           { .socket = b->publish, .events = ZMQ_POLLIN } };
                (void)zmq_poll(items, 2, -1);
        } while (turn(b));
        return NULL;
}

int broadcast_send(struct broadcast *b, const char *topic, size_t topic_size, zmq_msg_t *message)
{
        if (zmq_send(b->feed, topic, topic_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
            zmq_msg_send(message, b->feed, ZMQ_DONTWAIT) < 0)
                return -errno;
        return 0;
}

/* --------------------------------------------------------------------- life */

static bool set(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

struct broadcast *broadcast_new(void *context, int high_water_mark)
{
        struct broadcast *b = calloc(1, sizeof(*b));

        if (!b)
                return NULL;
        (void)pthread_mutex_init(&b->lock, NULL);
        (void)pthread_cond_init(&b->changed, NULL);
        b->feed = zmq_socket(context, ZMQ_PUSH);
        b->taken = zmq_socket(context, ZMQ_PULL);
        b->publish = zmq_socket(context, ZMQ_XPUB);
        if (!b->feed || !b->taken || !b->publish || !set(b->feed, ZMQ_SNDHWM, LIMIT_UPDATES_WAITING) ||
            !set(b->taken, ZMQ_RCVHWM, 1) || !set(b->publish, ZMQ_SNDHWM, high_water_mark) ||
            !set(b->publish, ZMQ_XPUB_VERBOSER, 1) || zmq_bind(b->taken, FEED) || zmq_connect(b->feed, FEED))
                broadcast_destroy(&b);
        return b;
}

void *broadcast_socket(const struct broadcast *b)
{
        return b->publish;
}

bool broadcast_start(struct broadcast *b, unsigned most)
{
        sigset_t all, before;

        b->most = most;
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread with the loop */
        b->started = pthread_create(&b->thread, NULL, broadcast_all, b) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return b->started;
}

/* Queued behind all updates; blocks while the pipe is full. */
static void command(struct broadcast *b, const char *word)
{
        while (zmq_send(b->feed, word, strlen(word), 0) < 0 && errno == EINTR)
                ;
}

void broadcast_pause(struct broadcast *b)
{
        (void)pthread_mutex_lock(&b->lock);
        b->pause = true;
        (void)pthread_mutex_unlock(&b->lock);
        command(b, "pause");
        (void)pthread_mutex_lock(&b->lock);
        while (!b->is_paused)
                (void)pthread_cond_wait(&b->changed, &b->lock);
        (void)pthread_mutex_unlock(&b->lock);
}

void broadcast_resume(struct broadcast *b)
{
        (void)pthread_mutex_lock(&b->lock);
        b->pause = false;
        (void)pthread_cond_broadcast(&b->changed);
        (void)pthread_mutex_unlock(&b->lock);
}

void broadcast_stop(struct broadcast *b)
{
        if (!b || !b->started)
                return;
        command(b, "");
        (void)pthread_join(b->thread, NULL);
        b->started = false;
}

uint64_t broadcast_subscriptions(const struct broadcast *b)
{
        return atomic_load(&b->subscriptions);
}

uint64_t broadcast_disconnected(const struct broadcast *b)
{
        return atomic_load(&b->disconnected);
}

void broadcast_destroy(struct broadcast **bp)
{
        struct broadcast *b = *bp;

        *bp = NULL;
        if (!b)
                return;
        broadcast_stop(b);
        if (b->feed)
                (void)zmq_close(b->feed);
        if (b->taken)
                (void)zmq_close(b->taken);
        if (b->publish)
                (void)zmq_close(b->publish);
        (void)pthread_mutex_destroy(&b->lock);
        (void)pthread_cond_destroy(&b->changed);
        free(b->peers);
        free(b);
}
