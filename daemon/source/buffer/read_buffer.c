/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one current buffer, of which the reading thread itself is a holder.
 * Whoever keeps a piece is a holder too; when only one holder remains, reading
 * starts at its beginning again. A buffer without room for another piece is
 * replaced only when the next one is already allocated (`ahead`): so there is
 * always room, and out of memory is reported by read_buffer_keep.
 *
 * Free buffers are kept for reuse, some for good and others as long as they are
 * needed every second: fresh memory costs more in page faults than reading the
 * bytes into it, and giving it back interrupts the other threads.
 */
#include "daemon/source/buffer/read_buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define AT_REST_MIN 8u /* not given back */
#define AT_REST_MAX 40u

struct read_buffer {
        atomic_uint holders;
        struct read_buffer *next; /* in the list of free buffers */
        size_t kept;              /* bytes at its start that a holder may still need; used by the reading thread only */
        uint8_t bytes[READ_PIECES_BYTES];
};

static struct read_buffer first = { .holders = 1 };
static struct read_buffer *current = &first, *ahead; /* used by the reading thread only */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct read_buffer *at_rest;
static uint32_t n_at_rest, in_use = 1;
static uint32_t unneeded; /* the fewest at rest since the last trim */

/* A buffer with one holder. NULL: `most` are in use, or out of memory. */
static struct read_buffer *acquire_buffer(uint32_t most)
{
        struct read_buffer *b = NULL;
        bool may;

        pthread_mutex_lock(&lock);
        if ((may = in_use < most)) {
                in_use++;
                if ((b = at_rest)) {
                        at_rest = b->next;
                        n_at_rest--;
                        unneeded = n_at_rest < unneeded ? n_at_rest : unneeded;
                }
        }
        pthread_mutex_unlock(&lock);
        if (may && !b && !(b = malloc(sizeof(*b)))) {
                pthread_mutex_lock(&lock);
                in_use--;
                pthread_mutex_unlock(&lock);
        }
        if (b) {
                atomic_init(&b->holders, 1);
                b->kept = 0;
        }
        return b;
}

void read_buffer_release(struct read_buffer *b)
{
        if (atomic_fetch_sub_explicit(&b->holders, 1, memory_order_acq_rel) != 1)
                return;
        pthread_mutex_lock(&lock);
        in_use--;
        bool rests = b == &first || n_at_rest < AT_REST_MAX;
        if (rests) {
                b->next = at_rest;
                at_rest = b;
                n_at_rest++;
        }
        pthread_mutex_unlock(&lock);
        if (!rests)
                free(b);
}

uint8_t *read_buffer_room(struct read_buffer **ret_buffer)
{
        struct read_buffer *full = current;

        if (atomic_load_explicit(&full->holders, memory_order_acquire) == 1)
                full->kept = 0;
        if (READ_PIECES_BYTES - full->kept < READ_PIECE_BYTES) {
                current = ahead;
                ahead = NULL;
                read_buffer_release(full);
        }
        *ret_buffer = current;
        return current->bytes + current->kept;
}

bool read_buffer_extend(struct read_buffer *b, const uint8_t *end, uint32_t most)
{
        const size_t kept = (size_t)(end - b->bytes);

        if (kept <= b->kept)
                return true;
        if (b == current && READ_PIECES_BYTES - kept < READ_PIECE_BYTES && !ahead && !(ahead = acquire_buffer(most)))
                return false;
        b->kept = kept;
        return true;
}

bool read_buffer_keep(struct read_buffer *b, const uint8_t *end, uint32_t most)
{
        if (!read_buffer_extend(b, end, most))
                return false;
        atomic_fetch_add_explicit(&b->holders, 1, memory_order_relaxed);
        return true;
}

/* Takes the buffers that are not needed out of the list. */
static struct read_buffer *remove_unneeded(void)
{
        struct read_buffer *taken = NULL, *b;

        for (struct read_buffer **p = &at_rest; (b = *p) && unneeded > AT_REST_MIN;) {
                if (b == &first) {
                        p = &b->next;
                        continue;
                }
                *p = b->next;
                b->next = taken;
                taken = b;
                n_at_rest--;
                unneeded--;
        }
        unneeded = n_at_rest;
        return taken;
}

void read_buffers_trim(void)
{
        pthread_mutex_lock(&lock);
        struct read_buffer *b = remove_unneeded(), *next;
        pthread_mutex_unlock(&lock);
        for (; b; b = next) {
                next = b->next;
                free(b);
        }
}

uint32_t read_buffers_in_use(void)
{
        pthread_mutex_lock(&lock);
        uint32_t n = in_use;
        pthread_mutex_unlock(&lock);
        return n;
}

uint32_t read_buffers_at_rest(void)
{
        pthread_mutex_lock(&lock);
        const uint32_t n = n_at_rest;
        pthread_mutex_unlock(&lock);
        return n;
}
