/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/digits.h"

static int read_all(int fd, char *buffer, size_t size)
{
        size_t used = 0;

        while (used < size - 1) {
                ssize_t n = read(fd, buffer + used, size - 1 - used);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                used += (size_t)n;
        }
        buffer[used] = '\0';
        return (int)used;
}

int kernel_file_read(char *buffer, size_t size, const char *path_format, ...)
{
        char path[KERNEL_PATH_MAX];
        va_list args;

        va_start(args, path_format);
        int n = vsnprintf(path, sizeof(path), path_format, args);
        va_end(args);
        if (n < 0 || (size_t)n >= sizeof(path))
                return -ENAMETOOLONG;
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        int r = read_all(fd, buffer, size);
        (void)close(fd); /* opened for reading only */
        return r;
}

bool kernel_number(const char *text, uint64_t *ret_number)
{
        text += strspn(text, " \t");
        return digits_read(&text, ret_number);
}

bool kernel_field(const char *text, const char *key, uint64_t *ret_number)
{
        size_t size = strlen(key);

        while (text) {
                if (!strncmp(text, key, size) && (text[size] == ':' || text[size] == ' '))
                        return kernel_number(text + size + 1, ret_number);
                text = strchr(text, '\n');
                if (text)
                        text++;
        }
        return false;
}
