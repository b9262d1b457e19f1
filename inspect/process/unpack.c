/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - what a compressed file has is read as that of a log is. A core file is mostly zeros, or may have been made
 * to be: blocks of them become holes, and the limit of CPU time ends what does not end by itself.
 */
#include "inspect/process/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/eventlog/archive/log_file.h"
#include "proto/base/descriptors.h"

#define BUFFER_BYTES ((size_t)1 << 16)
#define BLOCK_BYTES  4096u /* a hole is of these */

/* The plain file as far as it is written. */
struct plain {
        int fd;
        off_t size;
};

static bool make_plain(struct plain *ret, struct error *error)
{
        const char *directory = getenv("TMPDIR");

        if (!directory || !directory[0])
                directory = "/var/tmp";
        *ret = (struct plain){ .fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) };
        return ret->fd >= 0 || error_set(error, "it cannot be unpacked in %.200s: %s", directory, strerror(errno));
}

static bool fill_plain(struct plain *p, struct log_file *packed, struct error *error)
{
        static const uint8_t zeros[BLOCK_BYTES];
        uint8_t buffer[BUFFER_BYTES];
        ssize_t n;

        while ((n = log_file_read(packed, buffer, sizeof(buffer))) > 0)
                for (size_t at = 0, k; at < (size_t)n; at += k, p->size += (off_t)k) {
                        k = (size_t)n - at < BLOCK_BYTES ? (size_t)n - at : BLOCK_BYTES;
                        if (memcmp(buffer + at, zeros, k) != 0 && pwrite(p->fd, buffer + at, k, p->size) != (ssize_t)k)
                                return error_set(error,
                                                 "it cannot be unpacked: %s; TMPDIR names a directory with room for it",
                                                 strerror(errno));
                }
        if (n < 0)
                return error_set(error, "it cannot be read: %s", strerror((int)-n));
        if (log_file_damage(packed))
                return error_set(error, "it is damaged, or cut off: %s", log_file_damage(packed));
        return ftruncate(p->fd, p->size) == 0 || error_set(error, "it cannot be unpacked: %s", strerror(errno));
}

bool unpack(const char *path, int *ret_fd, struct error *error)
{
        struct log_file *f = log_file_open(path, error);
        struct plain p = { .fd = -1 };
        const bool good = f && (!log_file_is_packed(f) || (make_plain(&p, error) && fill_plain(&p, f, error)));

        log_file_close(&f);
        if (!good)
                close_fd(&p.fd);
        *ret_fd = p.fd;
        return good;
}
