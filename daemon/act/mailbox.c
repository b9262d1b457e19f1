/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a ring under a mutex and an eventfd that is readable while something
 * waits. The receiver takes one message at a time out of the lock, at most a
 * TURN of them before it lets its loop do other things.
 */
#include "daemon/act/mailbox.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TURN 64u

struct mailbox {
        struct mailbox_options options;
        pthread_mutex_t lock;
        size_t first, n;
        int fd;
        struct event *readable;
        void *ring[];
};

static void *take(struct mailbox *m)
{
        void *message = NULL;

        (void)pthread_mutex_lock(&m->lock);
        if (m->n > 0) {
                message = m->ring[m->first];
                m->first = (m->first + 1) % m->options.capacity;
                m->n--;
        }
        (void)pthread_mutex_unlock(&m->lock);
        return message;
}

static void ring_the_bell(struct mailbox *m)
{
        const uint64_t one = 1;
        ssize_t ignored = write(m->fd, &one, sizeof(one)); /* full means that it is readable already */

        (void)ignored;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        struct mailbox *m = ctx;
        uint64_t count;
        ssize_t ignored = read(fd, &count, sizeof(count)); /* only makes it quiet: the ring knows how many */
        void *message;

        (void)ignored;
        (void)what;
        for (unsigned i = 0; i < TURN; i++) {
                if (!(message = take(m)))
                        return;
                m->options.receive(m->options.ctx, message);
        }
        ring_the_bell(m);
}

struct mailbox *mailbox_new(const struct mailbox_options *options)
{
        struct mailbox *m = calloc(1, sizeof(*m) + options->capacity * sizeof(void *));

        if (!m)
                return NULL;
        m->options = *options;
        (void)pthread_mutex_init(&m->lock, NULL);
        m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (m->fd >= 0)
                m->readable = event_new(options->base, m->fd, EV_READ | EV_PERSIST, on_readable, m);
        if (!m->readable || event_add(m->readable, NULL) != 0)
                mailbox_destroy(&m);
        return m;
}

void mailbox_destroy(struct mailbox **mp)
{
        struct mailbox *m = *mp;
        void *message;

        *mp = NULL;
        if (!m)
                return;
        while ((message = take(m)))
                m->options.discard(message);
        if (m->readable)
                event_free(m->readable);
        if (m->fd >= 0)
                (void)close(m->fd);
        (void)pthread_mutex_destroy(&m->lock);
        free(m);
}

int mailbox_post(struct mailbox *m, void *message)
{
        bool room;

        (void)pthread_mutex_lock(&m->lock);
        room = m->n < m->options.capacity;
        if (room)
                m->ring[(m->first + m->n++) % m->options.capacity] = message;
        (void)pthread_mutex_unlock(&m->lock);
        if (!room)
                return -ENOBUFS;
        ring_the_bell(m);
        return 0;
}
