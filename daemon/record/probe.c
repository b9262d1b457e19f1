/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/run_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/record/limits.h"
#include "proto/base/error.h"

static int write_probe(int fd)
{
        static const uint8_t zeros[4096];

        for (size_t done = 0; done < PROBE_BYTES;) {
                ssize_t n = write(fd, zeros, sizeof(zeros));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? errno : ENOSPC;
                done += (size_t)n;
        }
        return 0;
}

bool probe_write(const char *directory, struct error *error)
{
        char path[RECORDED_PATH_MAX];
        int n = snprintf(path, sizeof(path), "%s/.probe", directory);

        if (n < 0 || n >= (int)sizeof(path))
                return error_set(error, "the path is too long");
        (void)mkdir(directory, 0700); /* somebody may have removed it */
        (void)unlink(path);           /* of a daemon that was killed */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return error_set(error, "%s", strerror(errno));
        const int cause = write_probe(fd);
        (void)close(fd);
        (void)unlink(path);
        return cause == 0 || error_set(error, "%s", strerror(cause));
}
