/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/digits.h"

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
        const ssize_t r = read_full(fd, buffer, size - 1);
        (void)close(fd); /* opened for reading only */
        if (r >= 0)
                buffer[r] = '\0';
        return (int)r;
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
