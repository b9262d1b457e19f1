/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/bundles.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/cli/signals.h"

#define PIECE_BYTES (256u << 10)

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
        while (size > 0) {
                ssize_t n = write(fd, bytes, size);
                if (n < 0 && errno == EINTR && !signals_stop())
                        continue;
                if (n < 0)
                        return -errno;
                bytes += n;
                size -= (size_t)n;
        }
        return 0;
}

int stretch_file_copy(struct cutout *c, int fd, uint64_t *ret_bytes)
{
        uint8_t *piece = malloc(PIECE_BYTES);
        int r = piece ? 0 : -ENOMEM;
        size_t n;

        *ret_bytes = 0;
        while (r == 0 && !signals_stop() && (n = cutout_read(c, piece, PIECE_BYTES)) > 0) {
                r = write_all(fd, piece, n);
                *ret_bytes += n;
        }
        free(piece);
        return r;
}
