/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the memory that this needs is a buffer for each side. A core file is mostly zeros, or may have been made to
 * be: blocks of them become holes, and the limit of CPU time ends what does not end by itself.
 */
#include "inspect/process/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BUFFER_BYTES ((size_t)1 << 17)
#define BLOCK_BYTES  4096u /* a hole is of these */

/* The plain file as far as it is written. */
struct plain {
        int fd;
        off_t size;
};

static bool is_zero(const uint8_t *bytes, size_t n)
{
        return n == 0 || (bytes[0] == 0 && !memcmp(bytes, bytes + 1, n - 1));
}

static bool put(struct plain *p, const uint8_t *bytes, size_t n, struct error *error)
{
        for (size_t at = 0, k; at < n; at += k, p->size += (off_t)k) {
                k = n - at < BLOCK_BYTES ? n - at : BLOCK_BYTES;
                if (!is_zero(bytes + at, k) && pwrite(p->fd, bytes + at, k, p->size) != (ssize_t)k)
                        return error_set(error, "it cannot be unpacked: %s; TMPDIR names a directory with room for it",
                                         strerror(errno));
        }
        return true;
}

static bool unpack_gzip(int fd, struct plain *p, uint8_t *buffer, struct error *error)
{
        const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        gzFile file = own >= 0 ? gzdopen(own, "rb") : NULL;
        bool good = file != NULL;
        int n = 1;

        if (!file && own >= 0)
                (void)close(own);
        while (good && (n = gzread(file, buffer, BUFFER_BYTES)) > 0)
                good = put(p, buffer, (size_t)n, error);
        const bool whole = file && n == 0 && gzclose_r(file) == Z_OK;
        if (file && n != 0)
                (void)gzclose_r(file);
        return good && (whole || error_set(error, "it is damaged, or cut off: gzip"));
}

static bool unpack_zstd(int fd, struct plain *p, uint8_t *buffer, struct error *error)
{
        uint8_t *packed = malloc(BUFFER_BYTES);
        ZSTD_DCtx *z = packed ? ZSTD_createDCtx() : NULL;
        size_t left = 1; /* of a frame; 0: it is whole */
        ssize_t n = 0;
        bool good = z || error_set(error, "out of memory; --memory gives it more");

        while (good && (n = read(fd, packed, BUFFER_BYTES)) > 0) {
                ZSTD_inBuffer in = { packed, (size_t)n, 0 };
                while (good && in.pos < in.size) {
                        ZSTD_outBuffer out = { buffer, BUFFER_BYTES, 0 };
                        left = ZSTD_decompressStream(z, &out, &in);
                        if (ZSTD_isError(left))
                                good = error_set(error, "it is damaged: zstd: %s", ZSTD_getErrorName(left));
                        good = good && put(p, buffer, out.pos, error);
                }
        }
        if (good && (n < 0 || left != 0))
                good = error_set(error, "it is damaged, or cut off: zstd");
        ZSTD_freeDCtx(z);
        free(packed);
        return good;
}

static int make_plain(struct error *error)
{
        const char *directory = getenv("TMPDIR");

        if (!directory || !directory[0])
                directory = "/var/tmp";
        const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0)
                (void)error_set(error, "it cannot be unpacked in %.200s: %s", directory, strerror(errno));
        return fd;
}

/* What systemd may have been built to compress with, too. */
static bool is_of_another(const uint8_t *head)
{
        static const uint8_t xz[] = { 0xfd, '7', 'z', 'X' }, lz4[] = { 0x04, 0x22, 0x4d, 0x18 };

        return !memcmp(head, xz, sizeof(xz)) || !memcmp(head, lz4, sizeof(lz4));
}

int unpack(int fd, struct error *error)
{
        static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
        uint8_t head[sizeof(zstd)], *buffer;
        const ssize_t n = pread(fd, head, sizeof(head), 0);
        const bool is_gzip = n == sizeof(head) && !memcmp(head, gzip, sizeof(gzip));

        if (n == sizeof(head) && is_of_another(head)) {
                (void)close(fd);
                return error_set(error,
                                 "it is compressed by xz or lz4; gzip and zstd are read: unpack it, or write it "
                                 "by `coredumpctl dump PID -o FILE`"),
                       -1;
        }
        if (!is_gzip && (n != sizeof(head) || memcmp(head, zstd, sizeof(zstd)) != 0))
                return fd;
        struct plain p = { .fd = make_plain(error) };
        bool good = p.fd >= 0;
        if (good && !(buffer = malloc(BUFFER_BYTES))) {
                good = error_set(error, "out of memory; --memory gives it more");
        } else if (good) {
                good = (is_gzip ? unpack_gzip : unpack_zstd)(fd, &p, buffer, error) &&
                       (ftruncate(p.fd, p.size) == 0 || error_set(error, "it cannot be unpacked: %s", strerror(errno)));
                free(buffer);
        }
        (void)close(fd);
        if (!good && p.fd >= 0)
                (void)close(p.fd);
        return good ? p.fd : -1;
}
