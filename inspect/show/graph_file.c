/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/graph/file.h"
#include "inspect/show/out_file.h"
#include "proto/base/document.h"
#include "proto/base/whole_file.h"

static const char *const suffixes[] = { GRAPH_FILE_SUFFIX, ".heapsnapshot", NULL };

bool graph_file_check(const char *path, struct error *error)
{
        return out_file_check(path, suffixes, error);
}

static int write_graph(const char *path, const struct heap_graph *g)
{
        size_t size = 0;
        uint8_t *bytes = graph_file_encode(g, &size);
        const int r = bytes ? whole_file_write(path, (const char *)bytes, size) : -ENOMEM;

        free(bytes);
        return r;
}

static int write_heapsnapshot(const char *path, const struct heap_graph *g)
{
        struct document d;

        document_open(&d);
        if (d.to)
                graph_write_heapsnapshot(d.to, g);
        const int r = document_close(&d) ? whole_file_write(path, d.text, d.size) : -ENOMEM;
        document_done(&d);
        return r;
}

bool graph_file_write(const char *path, const struct heap_graph *g, struct error *error)
{
        const int r = out_file_suffix(path, suffixes) == 0 ? write_graph(path, g) : write_heapsnapshot(path, g);

        return r == 0 || error_set(error, "%.500s: cannot be written: %s", path, strerror(-r));
}

/* From malloc. 0 or -errno. */
static int read_all(const char *path, uint64_t most, uint8_t **ret, size_t *ret_size)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st;
        int r = fd < 0 || fstat(fd, &st) < 0               ? -errno
                : !S_ISREG(st.st_mode)                     ? -EINVAL
                : (uint64_t)st.st_size > most              ? -EFBIG
                : !(*ret = malloc((size_t)st.st_size + 1)) ? -ENOMEM
                                                           : 0;

        for (*ret_size = 0; r == 0 && *ret_size < (size_t)st.st_size;) {
                const ssize_t n = read(fd, *ret + *ret_size, (size_t)st.st_size - *ret_size);
                if (n == 0)
                        break;
                r = n < 0 && errno != EINTR ? -errno : 0;
                *ret_size += n > 0 ? (size_t)n : 0;
        }
        if (fd >= 0)
                (void)close(fd);
        return r;
}

bool graph_file_is(const char *path)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        uint8_t head[GRAPH_FILE_MAGIC_BYTES];
        const bool ret = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) && graph_file_is_one(head);

        if (fd >= 0)
                (void)close(fd);
        return ret;
}

bool graph_file_read(struct heap_graph *g, const char *path, uint64_t most_bytes, struct error *error)
{
        struct error why = { "" };
        uint8_t *bytes = NULL;
        size_t size = 0;
        const int r = read_all(path, most_bytes, &bytes, &size);

        heap_graph_init(g);
        const bool good = r == 0 && graph_file_decode(g, bytes, size, most_bytes, &why);
        free(bytes);
        return good || error_set(error, "%.500s: %.600s", path,
                                 r == -EINVAL  ? "it is no regular file"
                                 : r == -EFBIG ? "it is larger than the inspection may be (--memory)"
                                 : r != 0      ? strerror(-r)
                                               : why.text);
}
