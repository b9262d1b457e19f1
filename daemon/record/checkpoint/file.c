/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/checkpoint/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "daemon/model/image/image.h"
#include "proto/base/whole_file.h"

static const char magic[8] = "HWCHECK2";

struct head {
        char magic[8];
        uint64_t wall_ns, raw;
};

static int path_of(char path[CHECKPOINT_PATH_MAX], const char *directory, const char *target)
{
        int n = snprintf(path, CHECKPOINT_PATH_MAX, "%s/%s" CHECKPOINT_SUFFIX, directory, target);

        return n < 0 || n >= (int)CHECKPOINT_PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The whole file, to free(). NULL when out of memory. */
static char *pack(const struct checkpoint *c, size_t *ret_size)
{
        struct head head = { .wall_ns = c->wall_ns, .raw = c->n };
        size_t most = ZSTD_compressBound(c->n), n = 0;
        char *file = malloc(sizeof(head) + most);
        ZSTD_CCtx *zstd = ZSTD_createCCtx();

        if (file && zstd) {
                memcpy(head.magic, magic, sizeof(magic));
                memcpy(file, &head, sizeof(head));
                (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
                (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
                n = ZSTD_compress2(zstd, file + sizeof(head), most, c->image, c->n);
        }
        ZSTD_freeCCtx(zstd);
        if (n == 0 || ZSTD_isError(n)) {
                free(file);
                return NULL;
        }
        *ret_size = sizeof(head) + n;
        return file;
}

int checkpoint_write(const char *directory, const char *target, const struct checkpoint *c)
{
        char path[CHECKPOINT_PATH_MAX];
        size_t size = 0;
        int r = path_of(path, directory, target);
        char *file = r == 0 ? pack(c, &size) : NULL;

        if (r == 0)
                r = file ? whole_file_write(path, file, size) : -ENOMEM;
        free(file);
        return r;
}

static int unpack(const char *file, size_t size, struct checkpoint *ret, struct error *error)
{
        struct head head;

        if (size < sizeof(head) || memcmp(file, magic, sizeof(magic)) != 0)
                return error_code(error, -EBADMSG, "it is not a checkpoint");
        memcpy(&head, file, sizeof(head));
        if (head.raw == 0 || head.raw > IMAGE_BYTES_MAX)
                return error_code(error, -EBADMSG, "it is damaged");
        ret->image = malloc(head.raw);
        if (!ret->image)
                return error_code(error, -ENOMEM, "out of memory");
        size_t n = ZSTD_decompress(ret->image, head.raw, file + sizeof(head), size - sizeof(head));
        if (n != head.raw) {
                free(ret->image);
                ret->image = NULL;
                return error_code(error, -EBADMSG, "it is damaged");
        }
        ret->n = n;
        ret->wall_ns = head.wall_ns;
        return 0;
}

int checkpoint_read(const char *directory, const char *target, struct checkpoint *ret, struct error *error)
{
        char path[CHECKPOINT_PATH_MAX], *file = NULL;
        size_t size = 0;
        int r = path_of(path, directory, target);

        *ret = (struct checkpoint){ 0 };
        if (r == 0)
                r = whole_file_read(path, IMAGE_BYTES_MAX, &file, &size);
        if (r == -EPERM)
                return error_code(error, r, "it is not a file of this user");
        if (r != 0)
                return error_code(error, r, "%s", strerror(-r));
        r = unpack(file, size, ret, error);
        free(file);
        return r;
}

void checkpoint_remove(const char *directory, const char *target)
{
        char path[CHECKPOINT_PATH_MAX];

        if (path_of(path, directory, target) == 0)
                (void)unlink(path); /* it may not exist */
}
