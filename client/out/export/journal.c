/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/delivery.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "proto/base/error.h"
#include "proto/base/descriptors.h"

#define MAGIC        "hwqueue1"
#define HEAD_BYTES   16u
#define RECORD_BYTES 24u /* before a record's own bytes */

struct journal {
        int fd;
        char path[PATH_MAX];
        uint64_t begin, end; /* of the valid records */
        uint64_t most;
        uint64_t failures;
        bool broken;        /* a write failed: nothing is appended until the queue has been empty */
        uint64_t unwritten; /* newest batches in memory that are not in the file */
};

struct record {
        uint32_t size, crc;
        uint64_t samples, wall_ns;
};

/* Over the record's numbers and its bytes. */
static uint32_t record_checksum(const struct record *r, const void *bytes, size_t size)
{
        uLong crc = crc32(0, (const Bytef *)&r->samples, 2 * sizeof(uint64_t));

        return (uint32_t)crc32_z(crc, bytes, size);
}

static bool write_head(struct journal *j)
{
        uint64_t begin = htole64(j->begin);
        char head[HEAD_BYTES];

        memcpy(head, MAGIC, 8);
        memcpy(head + 8, &begin, 8);
        return pwrite(j->fd, head, sizeof(head), 0) == (ssize_t)sizeof(head);
}

static void start_over(struct journal *j)
{
        j->begin = j->end = HEAD_BYTES;
        j->broken = false;
        j->unwritten = 0;
        if (ftruncate(j->fd, HEAD_BYTES) < 0 || !write_head(j))
                j->failures++;
}

/* ------------------------------------------------------------------ reading */

/* The record at `at`; its bytes are malloc'ed. False: there is no complete one. */
static bool read_record(const struct journal *j, uint64_t at, uint64_t size, struct batch *ret)
{
        struct record r;

        if (size - at < RECORD_BYTES || pread(j->fd, &r, RECORD_BYTES, (off_t)at) != RECORD_BYTES)
                return false;
        size_t n = le32toh(r.size);
        if (n == 0 || n > size - at - RECORD_BYTES || n > j->most)
                return false;
        void *bytes = malloc(n);
        if (!bytes)
                return false;
        if (pread(j->fd, bytes, n, (off_t)(at + RECORD_BYTES)) != (ssize_t)n ||
            record_checksum(&r, bytes, n) != le32toh(r.crc)) {
                free(bytes);
                return false;
        }
        *ret = (struct batch){
                .bytes = bytes, .size = n, .samples = le64toh(r.samples), .wall_ns = le64toh(r.wall_ns)
        };
        return true;
}

static void read_all(struct journal *j, batch_taker *take, void *ctx)
{
        struct batch b;
        struct stat st;
        char head[HEAD_BYTES];
        uint64_t begin;

        if (fstat(j->fd, &st) < 0 || st.st_size < HEAD_BYTES || pread(j->fd, head, HEAD_BYTES, 0) != HEAD_BYTES ||
            memcmp(head, MAGIC, 8) != 0) {
                start_over(j);
                return;
        }
        memcpy(&begin, head + 8, 8);
        begin = le64toh(begin);
        if (begin < HEAD_BYTES || begin > (uint64_t)st.st_size) {
                start_over(j);
                return;
        }
        j->begin = j->end = begin;
        while (read_record(j, j->end, (uint64_t)st.st_size, &b)) {
                j->end += RECORD_BYTES + b.size;
                take(ctx, &b);
        }
        if (j->begin == j->end)
                start_over(j);
        else if (ftruncate(j->fd, (off_t)j->end) < 0)
                j->failures++;
}

struct journal *journal_open(const char *path, uint64_t most, batch_taker *take, void *ctx, struct error *error)
{
        struct journal *j = calloc(1, sizeof(*j));

        error_set(error, "out of memory");
        if (!j)
                return NULL;
        j->most = most;
        (void)snprintf(j->path, sizeof(j->path), "%s", path);
        j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (j->fd < 0 || flock(j->fd, LOCK_EX | LOCK_NB) < 0) {
                error_set(error, "%s: %s", path,
                          j->fd >= 0 && errno == EWOULDBLOCK ? "another heapwatch export has it" : strerror(errno));
                journal_close(&j);
                return NULL;
        }
        read_all(j, take, ctx);
        return j;
}

void journal_close(struct journal **j)
{
        if (!*j)
                return;
        close_fd(&(*j)->fd);
        free(*j);
        *j = NULL;
}

/* ------------------------------------------------------------------ writing */

/* Drops what is before the beginning by copying; if that fails, the old file stays. */
static void compact_journal(struct journal *j)
{
        char beside[PATH_MAX + 8];
        char *rest = malloc((size_t)(j->end - j->begin) + HEAD_BYTES);
        size_t n = (size_t)(j->end - j->begin);
        uint64_t begin = htole64(HEAD_BYTES);
        int fd = -1;

        (void)snprintf(beside, sizeof(beside), "%s.new", j->path);
        if (rest && pread(j->fd, rest + HEAD_BYTES, n, (off_t)j->begin) == (ssize_t)n) {
                memcpy(rest, MAGIC, 8);
                memcpy(rest + 8, &begin, 8);
                (void)unlink(beside);
                fd = open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        }
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            write(fd, rest, n + HEAD_BYTES) == (ssize_t)(n + HEAD_BYTES) && rename(beside, j->path) == 0) {
                (void)close(j->fd);
                j->fd = fd;
                j->begin = HEAD_BYTES;
                j->end = HEAD_BYTES + n;
                fd = -1;
        } else {
                j->failures++;
        }
        if (fd >= 0) {
                (void)close(fd);
                (void)unlink(beside);
        }
        free(rest);
}

void journal_append(struct journal *j, const struct batch *b)
{
        struct record r = { .size = htole32((uint32_t)b->size),
                            .samples = htole64(b->samples),
                            .wall_ns = htole64(b->wall_ns) };
        struct iovec parts[] = { { &r, RECORD_BYTES }, { b->bytes, b->size } };

        if (j->broken) {
                j->unwritten++;
                return;
        }
        if (j->begin - HEAD_BYTES > j->most)
                compact_journal(j);
        r.crc = htole32(record_checksum(&r, b->bytes, b->size));
        if (pwritev(j->fd, parts, 2, (off_t)j->end) == (ssize_t)(RECORD_BYTES + b->size)) {
                j->end += RECORD_BYTES + b->size;
                return;
        }
        j->failures++;
        j->broken = true; /* later ones would be after a gap */
        j->unwritten++;
        if (ftruncate(j->fd, (off_t)j->end) < 0)
                j->failures++;
}

void journal_drop(struct journal *j, const struct batch *oldest)
{
        if (j->begin < j->end)
                j->begin += RECORD_BYTES + oldest->size;
        else if (j->unwritten)
                j->unwritten--;
        if (j->begin >= j->end && j->unwritten == 0)
                start_over(j);
        else if (!write_head(j))
                j->failures++;
}

uint64_t journal_bytes(const struct journal *j)
{
        return j ? j->end - j->begin : 0;
}

uint64_t journal_failures(const struct journal *j)
{
        return j ? j->failures : 0;
}
