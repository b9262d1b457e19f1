/* SPDX-License-Identifier: BSD-3-Clause */
/* relay and blocks: any split, readers that come late, stop or go; the writer never waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/run/blocks.h"
#include "client/run/relay.h"

static const char header[] = "hdrbhetbetb...hetehdredatb"; /* its end is all that counts */
#define HEADER_SIZE (sizeof(header) - 1)

/* A block of `size` bytes filled with `fill`. */
static void make_block(uint8_t *out, uint32_t size, uint8_t fill)
{
        memset(out, fill, size);
        memset(out, 0, BLOCKS_MARKER);
        out[1] = 18;
        out[10] = (uint8_t)(size >> 24);
        out[11] = (uint8_t)(size >> 16);
        out[12] = (uint8_t)(size >> 8);
        out[13] = (uint8_t)size;
}

/* ------------------------------------------------------------------ blocks */

struct heard {
        uint8_t bytes[4096];
        size_t size;
        unsigned blocks, others;
};

static void hear(struct blocks *b, const uint8_t *bytes, size_t size, struct heard *h)
{
        struct piece p;
        size_t n;

        while ((n = blocks_next(b, bytes, size, &p)) > 0 || p.size > 0) {
                memcpy(h->bytes + h->size, p.bytes, p.size);
                h->size += p.size;
                h->blocks += p.kind == PIECE_BLOCK && p.size > 0;
                h->others += p.kind == PIECE_OTHER && p.size > 0;
                bytes += n;
                size -= n;
        }
        assert_int_equal(size, 0);
}

/* Header, block, empty block, three odd bytes, block, end mark, a second log. */
static size_t make_log(uint8_t *out)
{
        size_t n = HEADER_SIZE;

        memcpy(out, header, HEADER_SIZE);
        make_block(out + n, 100, 'a');
        n += 100;
        make_block(out + n, 24, 0);
        n += 24;
        memcpy(out + n, "\0xx", 3);
        n += 3;
        make_block(out + n, 60, 'b');
        n += 60;
        memset(out + n, 0xff, 2);
        n += 2;
        memcpy(out + n, header, HEADER_SIZE);
        n += HEADER_SIZE;
        make_block(out + n, 30, 'c');
        return n + 30;
}

static void any_split(void **state)
{
        static struct blocks b;
        uint8_t log[1024];
        size_t size = make_log(log);
        (void)state;

        for (size_t step = 1; step <= size; step++) {
                struct heard h = { .size = 0 };
                memset(&b, 0, sizeof(b));
                for (size_t at = 0; at < size; at += step)
                        hear(&b, log + at, step < size - at ? step : size - at, &h);
                assert_int_equal(h.size, size);
                assert_memory_equal(h.bytes, log, size);
                assert_int_equal(h.blocks, 4);
                assert_int_equal(h.others, 5);
                assert_true(b.header_done);
                assert_int_equal(b.header_size, HEADER_SIZE);
        }
}

static void no_header(void **state)
{
        static struct blocks b;
        struct heard h = { .size = 0 };
        uint8_t block[50];
        (void)state;

        make_block(block, sizeof(block), 'a');
        hear(&b, (const uint8_t *)"garbage", 7, &h);
        hear(&b, block, sizeof(block), &h);
        assert_true(b.header_lost);
        assert_int_equal(h.blocks, 1);
        assert_int_equal(h.size, 57);
}

/* ------------------------------------------------------------------- relay */

struct bench {
        char directory[64], fifo[96], socket[96];
        struct relay *relay;
        int writer;
};

static void bench_open(struct bench *b)
{
        snprintf(b->directory, sizeof(b->directory), "/tmp/hw-relay-XXXXXX");
        assert_non_null(mkdtemp(b->directory));
        snprintf(b->fifo, sizeof(b->fifo), "%s/f", b->directory);
        snprintf(b->socket, sizeof(b->socket), "%s/s", b->directory);
        assert_int_equal(relay_open(&b->relay, b->fifo, b->socket), 0);
        b->writer = open(b->fifo, O_WRONLY | O_NONBLOCK);
        assert_true(b->writer >= 0);
}

static void bench_close(struct bench *b)
{
        close(b->writer);
        relay_close(&b->relay);
        assert_null(b->relay);
        assert_int_equal(access(b->fifo, F_OK), -1);
        assert_int_equal(access(b->socket, F_OK), -1);
        assert_int_equal(rmdir(b->directory), 0);
}

/* Runs the relay until it has nothing to do. */
static void settle(struct relay *r)
{
        struct pollfd fds[RELAY_POLLFDS];

        relay_pollfds(r, fds);
        while (poll(fds, RELAY_POLLFDS, 0) > 0) {
                (void)relay_turn(r, fds);
                relay_pollfds(r, fds);
        }
}

/* As the program does: the write must not block, with the relay reading concurrently. */
static void write_all(struct bench *b, const void *bytes, size_t size)
{
        const uint8_t *p = bytes;

        for (unsigned turns = 0; size > 0; turns++) {
                ssize_t n = write(b->writer, p, size);
                if (n < 0) {
                        assert_int_equal(errno, EAGAIN);
                        assert_true(turns < 100000); /* else nobody drains */
                        n = 0;
                }
                p += n;
                size -= (size_t)n;
                settle(b->relay);
        }
}

static int reader_connect(struct bench *b)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        assert_true(fd >= 0);
        snprintf(address.sun_path, sizeof(address.sun_path), "%s", b->socket);
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        settle(b->relay);
        assert_true(relay_connected(b->relay));
        return fd;
}

static size_t read_now(struct bench *b, int fd, uint8_t *out, size_t size)
{
        size_t n = 0;
        ssize_t k;

        while ((k = recv(fd, out + n, size - n, MSG_DONTWAIT)) > 0) {
                n += (size_t)k;
                settle(b->relay);
        }
        return n;
}

/* All that was written before the first reader is kept for it. */
static void late_first_reader(void **state)
{
        struct bench b;
        uint8_t log[1024], got[2048];
        size_t size = make_log(log);
        (void)state;

        bench_open(&b);
        write_all(&b, log, size);
        int fd = reader_connect(&b);
        assert_int_equal(read_now(&b, fd, got, sizeof(got)), size);
        assert_memory_equal(got, log, size);
        assert_int_equal(relay_stats(b.relay).bytes, size);
        assert_int_equal(relay_stats(b.relay).left_out_bytes, 0);
        close(fd);
        bench_close(&b);
}

/* The reader dies in the middle of a block; the next one gets the header, then whole blocks. */
static void second_reader(void **state)
{
        struct bench b;
        uint8_t a[100], c[80], got[1024];
        (void)state;

        bench_open(&b);
        make_block(a, sizeof(a), 'a');
        make_block(c, sizeof(c), 'c');
        write_all(&b, header, HEADER_SIZE);
        int fd = reader_connect(&b);
        write_all(&b, a, 50);
        assert_int_equal(read_now(&b, fd, got, sizeof(got)), HEADER_SIZE + 50);
        close(fd);
        settle(b.relay);
        assert_false(relay_connected(b.relay));
        write_all(&b, a + 50, 20);
        fd = reader_connect(&b);
        write_all(&b, a + 70, 30);
        write_all(&b, c, sizeof(c));
        assert_int_equal(read_now(&b, fd, got, sizeof(got)), HEADER_SIZE + sizeof(c));
        assert_memory_equal(got, header, HEADER_SIZE);
        assert_memory_equal(got + HEADER_SIZE, c, sizeof(c));
        assert_int_equal(relay_stats(b.relay).left_out_bytes, 50);
        assert_int_equal(relay_stats(b.relay).readers, 2);
        close(fd);
        bench_close(&b);
}

/* A reader that stops reading: 40 MB are written without blocking, whole blocks are dropped and counted. */
static void stopped_reader(void **state)
{
        enum { BLOCK = 100000, BLOCKS = 400 };
        static uint8_t block[BLOCK], got[(16 << 20)];
        struct bench b;
        (void)state;

        bench_open(&b);
        int fd = reader_connect(&b);
        write_all(&b, header, HEADER_SIZE);
        for (unsigned i = 0; i < BLOCKS; i++) {
                make_block(block, BLOCK, (uint8_t)i);
                write_all(&b, block, BLOCK);
        }
        struct relay_stats stats = relay_stats(b.relay);
        assert_int_equal(stats.bytes, HEADER_SIZE + (size_t)BLOCK * BLOCKS);
        assert_true(stats.left_out_blocks > 200);
        assert_int_equal(stats.left_out_bytes, stats.left_out_blocks * BLOCK);
        size_t n = read_now(&b, fd, got, sizeof(got));
        assert_int_equal(n, HEADER_SIZE + (BLOCKS - stats.left_out_blocks) * BLOCK);
        for (size_t at = HEADER_SIZE; at < n; at += BLOCK) /* each block is whole and of one fill */
                assert_true(got[at + 1] == 18 && got[at + BLOCKS_MARKER] == got[at + BLOCK - 1]);
        close(fd);
        bench_close(&b);
}

/* Nobody ever comes: the writer is not held up either. */
static void no_reader(void **state)
{
        static uint8_t block[1 << 20];
        struct bench b;
        (void)state;

        bench_open(&b);
        make_block(block, sizeof(block), 'x');
        write_all(&b, header, HEADER_SIZE);
        for (int i = 0; i < 20; i++)
                write_all(&b, block, sizeof(block));
        assert_int_equal(relay_stats(b.relay).left_out_blocks, 13); /* 7 fit beside the header */
        bench_close(&b);
}

/* After the end all is delivered and the reader sees the end of the stream. */
static void finish(void **state)
{
        struct bench b;
        uint8_t log[1024], got[2048];
        size_t size = make_log(log);
        (void)state;

        bench_open(&b);
        int fd = reader_connect(&b);
        assert_int_equal(write(b.writer, log, size), size);
        relay_finish(b.relay, 2000);
        assert_int_equal(read(fd, got, sizeof(got)), size);
        assert_int_equal(read(fd, got, sizeof(got)), 0);
        close(fd);
        bench_close(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(any_split),     cmocka_unit_test(no_header),      cmocka_unit_test(late_first_reader),
                cmocka_unit_test(second_reader), cmocka_unit_test(stopped_reader), cmocka_unit_test(no_reader),
                cmocka_unit_test(finish),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
