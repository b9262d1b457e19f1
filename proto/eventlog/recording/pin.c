/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/eventlog/recording/frame.h"

/* The last segment that begins no later than that; the first one if all do. */
static uint32_t segment_at(const char *path, const struct recorded_run *run, uint64_t time_ns)
{
        int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint32_t found = run->first;

        for (uint32_t n = run->first; directory >= 0 && n && n <= run->last; n++) {
                char name[SEGMENT_NAME_BYTES];
                struct frame_file f;
                segment_name_make(name, n);
                if (frame_file_open(&f, directory, name) != 0)
                        continue;
                const bool begins = frame_file_next(&f);
                const bool later = begins && f.head.begin_ns > time_ns;
                frame_file_close(&f);
                if (later)
                        break;
                if (begins)
                        found = n;
        }
        close_fd(&directory);
        return found ? found : 1;
}

int pin_acquire(struct pin *pin, const char *directory, const struct recorded_run *run, uint64_t from_ns)
{
        char path[RECORDED_PATH_MAX];
        int r = recorded_run_path(path, directory, run);

        pin->fd = -1;
        if (r != 0)
                return r;
        int n = snprintf(pin->path, sizeof(pin->path), "%s/pin.%06u.%ld", path, segment_at(path, run, from_ns),
                         (long)getpid());
        if (n < 0 || n >= (int)sizeof(pin->path))
                return -ENAMETOOLONG;
        pin->fd = open(pin->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (pin->fd < 0)
                return -errno;
        return flock(pin->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
}

void pin_release(struct pin *pin)
{
        if (pin->fd < 0)
                return;
        (void)unlink(pin->path);
        close(pin->fd);
        pin->fd = -1;
}

uint32_t pin_name_read(const char *name)
{
        char *end;

        if (strncmp(name, "pin.", 4) != 0 || strspn(name + 4, "0123456789") != 6 || name[10] != '.')
                return 0;
        unsigned long n = strtoul(name + 4, &end, 10);
        return n <= SEGMENTS_MAX ? (uint32_t)n : 0;
}

bool pin_is_held(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;

        close_fd(&fd);
        return held;
}
