/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/ghc/graph/graph.h"
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

bool graph_file_is(const char *path)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        uint8_t head[GRAPH_FILE_MAGIC_BYTES];
        const bool ret = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) && graph_file_is_one(head);

        if (fd >= 0)
                (void)close(fd);
        return ret;
}
