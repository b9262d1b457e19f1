/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - which file a path in /proc/PID/maps means cannot be known for certain (mapped_file_open()):
 * program_load() compares build-ids.
 */
#include "inspect/process/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole_file.h"

struct opened_file {
        int fd;
        struct memory memory;
        struct opened_file *next;
};

static bool read_file(void *ctx, uint64_t at, void *to, size_t n)
{
        const struct opened_file *f = ctx;
        uint8_t *out = to;

        if (at > INT64_MAX - n)
                return false;
        while (n > 0) {
                const ssize_t k = pread(f->fd, out, n, (off_t)at);
                if (k <= 0)
                        return false;
                out += k;
                at += (uint64_t)k;
                n -= (size_t)k;
        }
        return true;
}

static bool add(struct files *f, int fd, struct memory **ret, uint64_t *ret_size, struct error *error)
{
        struct opened_file *o = calloc(1, sizeof(*o));
        struct stat st;

        if (!o || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
                free(o);
                (void)close(fd);
                return error_set(error, "it is not a regular file");
        }
        *o = (struct opened_file){ .fd = fd, .next = f->opened };
        o->memory = (struct memory){ .read = read_file, .ctx = o };
        f->opened = o;
        *ret = &o->memory;
        *ret_size = (uint64_t)st.st_size;
        return true;
}

/* `fd` was opened so that a FIFO does not block; -1: errno says why not. */
static bool add_opened(struct files *f, int fd, struct memory **ret, uint64_t *ret_size, struct error *error)
{
        return fd < 0 ? error_set(error, "%s", strerror(errno)) : add(f, fd, ret, ret_size, error);
}

static bool files_open(struct files *f, const char *path, struct memory **ret, uint64_t *ret_size, struct error *error)
{
        return add_opened(f, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret, ret_size, error);
}

bool files_open_unpacked(struct files *f, const char *path, struct memory **ret, uint64_t *ret_size,
                         struct error *error)
{
        /* what systemd may have been built to compress with, too */
        static const uint8_t xz[] = { 0xfd, '7', 'z', 'X' }, lz4[] = { 0x04, 0x22, 0x4d, 0x18 };
        uint8_t head[sizeof(xz)];
        int fd;

        if (!files_open(f, path, ret, ret_size, error))
                return false;
        if (memory_read(*ret, 0, head, sizeof(head)) &&
            (!memcmp(head, xz, sizeof(xz)) || !memcmp(head, lz4, sizeof(lz4))))
                return error_set(error,
                                 "it is compressed by xz or lz4; gzip and zstd are read: unpack it, or write it "
                                 "by `coredumpctl dump PID -o FILE`");
        return unpack(path, &fd, error) && (fd < 0 || add(f, fd, ret, ret_size, error));
}

static bool open_of_program(void *ctx, const char *path, struct memory **ret, uint64_t *ret_size, struct error *error)
{
        struct files *f = ctx;
        const char *own = program_own_file(f->program);
        char inside[PATH_MAX + 32];

        if (f->pid && own && !strcmp(own, path)) {
                (void)snprintf(inside, sizeof(inside), "/proc/%ld/exe", (long)f->pid);
                if (files_open(f, inside, ret, ret_size, NULL))
                        return true;
        }
        return f->pid ? add_opened(f, mapped_file_open(f->pid, path), ret, ret_size, error)
                      : files_open(f, path, ret, ret_size, error);
}

struct file_opener files_opener(struct files *f)
{
        return (struct file_opener){ open_of_program, f };
}

void files_close(struct files *f)
{
        while (f->opened) {
                struct opened_file *o = f->opened;
                f->opened = o->next;
                memory_forget(&o->memory);
                (void)close(o->fd);
                free(o);
        }
}

uint8_t *files_read_whole(const char *path, uint64_t most, const char *too_large, size_t *ret_size, struct error *error)
{
        struct files files = { .pid = 0 };
        struct memory *file;
        uint8_t *bytes = NULL;
        uint64_t size;

        if (files_open(&files, path, &file, &size, error)) {
                if (size > most)
                        (void)error_set(error, "%s", too_large);
                else if (!(bytes = malloc((size_t)size + 1)))
                        (void)error_set(error, "out of memory");
                else if (!memory_read(file, 0, bytes, (size_t)size)) {
                        (void)error_set(error, "it cannot be read");
                        free(bytes);
                        bytes = NULL;
                }
                *ret_size = (size_t)size;
        }
        files_close(&files);
        return bytes;
}
