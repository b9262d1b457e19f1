/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * textfile.c - a file that is always complete, for node_exporter's textfile collector: written under another name and
 * renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/out_file.h"
#include "client/out/export/plan.h"
#include "client/out/metrics/collect.h"
#include "proto/base/error.h"

/* Whether it is not there, empty, or one that textfile_write() has written. */
static bool textfile_may_replace(const char *path)
{
        static const char ours[] = "# HELP heapwatch_";
        char head[sizeof(ours) - 1];
        const ssize_t n = out_file_head(path, head, sizeof(head));

        if (n < 0)
                return n == -ENOENT;
        return n == 0 || (n == (ssize_t)sizeof(head) && !memcmp(head, ours, sizeof(head)));
}

/* Readable by all. Returns how many samples it has; 0 with a message in `error`, then the old file is untouched. */
static uint64_t textfile_write(const char *path, struct metrics *m, const struct metrics_source *source,
                               struct error *error)
{
        char beside[PATH_MAX];
        uint64_t samples = 0;
        int n = snprintf(beside, sizeof(beside), "%s.new", path); /* the collector only reads *.prom */

        if (n < 0 || (size_t)n >= sizeof(beside)) {
                error_set(error, "%s: the path is too long", path);
                return 0;
        }
        (void)unlink(beside); /* left by an exporter that was killed while it wrote */
        int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
        int failed = to ? 0 : -errno;
        if (to) {
                samples = metrics_print(to, m, source, false);
                failed = stream_flush(to);
                if (!failed && fchmod(fd, 0644) < 0)
                        failed = -errno;
                if (fclose(to) != 0 && !failed)
                        failed = -errno;
        } else if (fd >= 0) {
                (void)close(fd);
        }
        if (!failed && rename(beside, path) == 0)
                return samples;
        error_set(error, "%s: %s", path, strerror(failed ? -failed : errno));
        if (fd >= 0)
                (void)unlink(beside);
        return 0;
}

const struct file_kind textfile = { .suffix = ".prom", .may_replace = textfile_may_replace, .write = textfile_write };
