/* SPDX-License-Identifier: BSD-3-Clause */
/* Kept pieces stay as they were read, whatever is read afterwards; without any, nothing grows. */
#include "daemon/source/buffer/read_buffer.h"

#include <pthread.h>
#include <string.h>

#include "tests/unit/test.h"

/* As a source: a piece of `size` bytes of that value. */
static struct read_piece piece_of(int value, size_t size)
{
        struct read_piece p = { .size = size };
        uint8_t *room = read_buffer_room(&p.buffer);

        memset(room, value, READ_PIECE_BYTES); /* all of the room may be written to */
        p.data = room;
        return p;
}

static bool keep(const struct read_piece *p, uint32_t most)
{
        return read_buffer_keep(p->buffer, p->data + p->size, most);
}

TEST(test_nothing_kept_is_read_to_one_place)
{
        struct read_piece a = piece_of(1, READ_PIECE_BYTES), b = piece_of(2, 1);

        assert_ptr_equal(a.data, b.data);
        assert_int_equal(read_buffers_in_use(), 1);
}

TEST(test_kept_pieces_stay)
{
        struct read_piece pieces[100];

        for (int i = 0; i < 100; i++) {
                pieces[i] = piece_of(i, i % 3 ? READ_PIECE_BYTES : 7);
                assert_true(keep(&pieces[i], READ_BUFFERS_ANY));
        }
        assert_true(read_buffers_in_use() >= 8 && read_buffers_in_use() <= 11);
        for (int i = 0; i < 100; i++) {
                for (size_t k = 0; k < pieces[i].size; k++)
                        assert_int_equal(pieces[i].data[k], i);
                read_buffer_release(pieces[i].buffer);
        }
        (void)piece_of(0, 1); /* the one that was read to last is the current one still */
        assert_true(read_buffers_in_use() <= 2);
}

TEST(test_beyond_the_bound_nothing_is_kept_and_reading_goes_on)
{
        struct read_piece pieces[64], p;
        unsigned n = 0;

        while (p = piece_of((int)n, READ_PIECE_BYTES), keep(&p, 3))
                pieces[n++] = p;
        assert_true(n >= 16 && n <= 32);
        for (int i = 0; i < 100; i++)
                (void)piece_of(77, READ_PIECE_BYTES);
        for (unsigned i = 0; i < n; i++) {
                assert_int_equal(pieces[i].data[READ_PIECE_BYTES - 1], i);
                read_buffer_release(pieces[i].buffer);
        }
        p = piece_of(1, 1);
        assert_true(keep(&p, 3));
        read_buffer_release(p.buffer);
}

TEST(test_more_of_a_kept_buffer_is_released_once)
{
        struct read_piece pieces[READ_PIECES_BYTES / READ_PIECE_BYTES + 1];
        unsigned n = 0;

        pieces[n] = piece_of(1, READ_PIECE_BYTES);
        assert_true(keep(&pieces[n++], READ_BUFFERS_ANY));
        while (pieces[n] = piece_of((int)n + 1, READ_PIECE_BYTES), pieces[n].buffer == pieces[0].buffer) {
                assert_ptr_equal(pieces[n].data, pieces[n - 1].data + READ_PIECE_BYTES);
                assert_true(read_buffer_extend(pieces[n].buffer, pieces[n].data + READ_PIECE_BYTES, READ_BUFFERS_ANY));
                n++;
        }
        assert_true(n >= READ_PIECES_BYTES / READ_PIECE_BYTES - 1);
        for (unsigned i = 0; i < n; i++)
                assert_int_equal(pieces[i].data[READ_PIECE_BYTES - 1], i + 1);
        assert_int_equal(read_buffers_in_use(), 2);
        read_buffer_release(pieces[0].buffer);
        assert_int_equal(read_buffers_in_use(), 1);
}

/* Reads and keeps that many bytes at once, and releases them. */
static void burst(unsigned pieces)
{
        struct read_buffer *kept[512];

        for (unsigned i = 0; i < pieces; i++) {
                struct read_piece p = piece_of(1, READ_PIECE_BYTES);
                assert_true(keep(&p, READ_BUFFERS_ANY));
                kept[i] = p.buffer;
        }
        for (unsigned i = 0; i < pieces; i++)
                read_buffer_release(kept[i]);
}

TEST(test_buffers_are_given_back_once_they_are_not_needed)
{
        burst(200);
        const uint32_t many = read_buffers_at_rest();
        assert_true(many > 8);
        for (int second = 0; second < 5; second++) {
                read_buffers_trim();
                burst(200);
                assert_int_equal(read_buffers_at_rest(), many); /* those of the last second are used again */
        }
        read_buffers_trim();
        read_buffers_trim();
        assert_int_equal(read_buffers_at_rest(), 8);
        burst(200);
        assert_int_equal(read_buffers_at_rest(), many);
}

static void *release_all(void *ctx)
{
        struct read_piece *pieces = ctx;

        for (int i = 0; i < 64; i++) {
                assert_int_equal(pieces[i].data[pieces[i].size - 1], pieces[i].data[0]);
                read_buffer_release(pieces[i].buffer);
        }
        return NULL;
}

TEST(test_another_thread_releases)
{
        struct read_piece pieces[2][64];
        pthread_t thread;

        for (int round = 0; round < 50; round++) {
                struct read_piece *mine = pieces[round % 2];
                for (int i = 0; i < 64; i++) {
                        mine[i] = piece_of(i, READ_PIECE_BYTES);
                        assert_true(keep(&mine[i], READ_BUFFERS_ANY));
                }
                if (round > 0)
                        assert_int_equal(pthread_join(thread, NULL), 0);
                assert_int_equal(pthread_create(&thread, NULL, release_all, mine), 0);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        (void)piece_of(0, 1);
        assert_true(read_buffers_in_use() <= 2);
}
