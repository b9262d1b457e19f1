/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the kernel writes a path in /proc/PID/maps from the reader's root, where the file is below it: of a
 * container it is the program's own path then, of a chroot ours. Where we are in a chroot and the program has mounts of
 * its own, it does not meet our root on the way up and writes the path from the top of those mounts, with what
 * /proc/PID/root leads to in front. All three are tried.
 */
#include "proto/base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/descriptors.h"

/*
 * A regular file below a root, which its user may have replaced by anything: no link leads out of it, and nothing else
 * is opened, as that alone may wait or act on a device. -1: there is none.
 */
static int open_below(const char *root, const char *path)
{
        const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
        char found[64];
        struct stat st;
        int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
        int at = base < 0 ? -1 : (int)syscall(SYS_openat2, base, path, &how, sizeof(how));

        if (at < 0 && base >= 0 && errno == ENOSYS)
                at = openat(base, path + strspn(path, "/"), O_PATH | O_CLOEXEC | O_NOFOLLOW);
        if (at >= 0 && fstat(at, &st) == 0 && S_ISREG(st.st_mode)) {
                (void)snprintf(found, sizeof(found), "/proc/self/fd/%d", at);
                fd = open(found, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        }
        close_fd(&at);
        close_fd(&base);
        return fd;
}

int mapped_file_open(pid_t pid, const char *path)
{
        char root[32], top[PATH_MAX];

        (void)snprintf(root, sizeof(root), "/proc/%ld/root", (long)pid);
        int fd = open_below(root, path);
        const ssize_t n = fd < 0 ? readlink(root, top, sizeof(top)) : -1;
        if (n > 1 && n < (ssize_t)sizeof(top) && !strncmp(path, top, (size_t)n) && path[n] == '/')
                fd = open_below(root, path + n);
        return fd >= 0 ? fd : open_below("/", path);
}

static FILE *open_maps(pid_t pid)
{
        char name[32];

        (void)snprintf(name, sizeof(name), "/proc/%ld/maps", (long)pid);
        return fopen(name, "re");
}

int mapped_file_find(pid_t pid, const char *const *parts, size_t n, bool *ret_found)
{
        char line[PATH_MAX + 128];
        FILE *f = open_maps(pid);

        memset(ret_found, 0, n * sizeof(*ret_found));
        if (!f)
                return -errno;
        while (fgets(line, sizeof(line), f))
                for (size_t i = 0; i < n; i++)
                        ret_found[i] |= strstr(line, parts[i]) != NULL;
        const int r = ferror(f) ? -EIO : 0;
        (void)fclose(f);
        return r;
}

int mapped_file_open_named(pid_t pid, const char *part)
{
        char line[PATH_MAX + 128];
        FILE *f = open_maps(pid);
        int fd = -1;

        while (f && fd < 0 && fgets(line, sizeof(line), f)) {
                const char *path = strchr(line, '/');
                if (!path || !strstr(path, part))
                        continue;
                line[strcspn(line, "\n")] = '\0';
                fd = mapped_file_open(pid, path);
        }
        if (f)
                (void)fclose(f);
        return fd;
}
