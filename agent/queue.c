/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a list under a mutex. Only bytes not yet taken count against the
 * limit; the server bounds what it holds for its readers itself.
 *
 * Pieces are mapped, not allocated: what malloc gives the runtime has never been
 * ours, so that what the runtime does with memory that it forgot to initialise is
 * as it would be without us.
 */
#include "agent/queue.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/thread.h"

static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct chunk *first, **last;
        size_t bytes, limit;
        bool closed;
        struct queue_losses losses;
} q = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct chunk *chunk_new(enum chunk_kind kind, const void *bytes, size_t size)
{
        struct chunk *c = mmap(NULL, sizeof(*c) + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (c == MAP_FAILED)
                return NULL;
        *c = (struct chunk){ .kind = kind, .holders = 1, .size = size };
        if (size > 0 && bytes)
                memcpy(c->bytes, bytes, size);
        return c;
}

void chunk_release(struct chunk *c)
{
        if (c && --c->holders == 0)
                (void)munmap(c, sizeof(*c) + c->size);
}

void queue_open(size_t limit_bytes)
{
        thread_condition_init(&q.changed);
        q.first = NULL;
        q.last = &q.first;
        q.bytes = 0;
        q.limit = limit_bytes;
        q.closed = false;
        q.losses = (struct queue_losses){ 0 };
}

static bool fits(size_t size, bool always)
{
        bool yes;

        pthread_mutex_lock(&q.lock);
        yes = !q.closed && (always || (size <= q.limit && q.bytes <= q.limit - size));
        if (!yes) {
                q.losses.blocks++;
                q.losses.bytes += size;
        }
        pthread_mutex_unlock(&q.lock);
        return yes;
}

bool queue_push(enum chunk_kind kind, const void *bytes, size_t size, bool always)
{
        struct chunk *c = fits(size, always) ? chunk_new(kind, bytes, size) : NULL;

        if (!c)
                return false;
        pthread_mutex_lock(&q.lock);
        *q.last = c;
        q.last = &c->next;
        q.bytes += size;
        pthread_cond_signal(&q.changed);
        pthread_mutex_unlock(&q.lock);
        return true;
}

struct chunk *queue_receive(int64_t timeout_ns)
{
        struct timespec until = thread_time_after(timeout_ns);
        struct chunk *all;

        pthread_mutex_lock(&q.lock);
        while (!q.first && !q.closed && timeout_ns > 0)
                if (pthread_cond_timedwait(&q.changed, &q.lock, &until) != 0)
                        break;
        all = q.first;
        q.first = NULL;
        q.last = &q.first;
        q.bytes = 0;
        pthread_mutex_unlock(&q.lock);
        return all;
}

struct queue_losses queue_losses(void)
{
        struct queue_losses l;

        pthread_mutex_lock(&q.lock);
        l = q.losses;
        pthread_mutex_unlock(&q.lock);
        return l;
}

void queue_close(void)
{
        pthread_mutex_lock(&q.lock);
        q.closed = true;
        pthread_cond_signal(&q.changed);
        pthread_mutex_unlock(&q.lock);
}

bool queue_closed(void)
{
        bool yes;

        pthread_mutex_lock(&q.lock);
        yes = q.closed && !q.first;
        pthread_mutex_unlock(&q.lock);
        return yes;
}

void queue_fork_prepare(void)
{
        pthread_mutex_lock(&q.lock);
}

void queue_fork_parent(void)
{
        pthread_mutex_unlock(&q.lock);
}

void queue_fork_child(void)
{
        pthread_mutex_init(&q.lock, NULL);
        q.closed = true;
}
