/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "proto/base/descriptors.h"
#include "proto/eventlog/recording/limits.h"

int frame_file_adopt(struct frame_file *f, int fd)
{
        struct stat st;
        int r = -EINVAL;

        *f = (struct frame_file){ .fd = fd, .stored = malloc(ZSTD_compressBound(FRAME_RAW_MAX)), .passed = true };
        if (!f->stored)
                r = -ENOMEM;
        else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_SET) == 0)
                return 0;
        frame_file_close(f);
        return r;
}

int frame_file_open(struct frame_file *f, int directory, const char *name)
{
        int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        *f = (struct frame_file){ .fd = -1 };
        return fd < 0 ? -errno : frame_file_adopt(f, fd);
}

void frame_file_close(struct frame_file *f)
{
        if (f->fd >= 0)
                close(f->fd);
        free(f->stored);
        *f = (struct frame_file){ .fd = -1 };
}

bool frame_file_next(struct frame_file *f)
{
        uint8_t bytes[FRAME_HEAD_BYTES];

        if (!f->passed && lseek(f->fd, f->head.stored, SEEK_CUR) < 0)
                return false;
        f->passed = true;
        if (read_full(f->fd, bytes, sizeof(bytes)) < (ssize_t)sizeof(bytes) || !frame_head_read(bytes, &f->head))
                return false;
        f->at += FRAME_HEAD_BYTES + f->head.stored;
        f->passed = false;
        /* Whether the file has all of the current frame; while it is being written it may not. */
        struct stat st;
        return fstat(f->fd, &st) == 0 && (uint64_t)st.st_size >= f->at;
}

uint8_t *frame_file_blocks(struct frame_file *f, struct frame_unpacker *unpacker)
{
        f->passed = true;
        return read_full(f->fd, f->stored, f->head.stored) == (ssize_t)f->head.stored
                       ? frame_unpack(unpacker, &f->head, f->stored)
                       : NULL;
}
