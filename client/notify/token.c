/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/notify/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool good_token(const char *token)
{
        if (!*token)
                return false;
        for (; *token; token++)
                if ((unsigned char)*token <= 0x20 || (unsigned char)*token >= 0x7f)
                        return false;
        return true;
}

bool token_read(const char *path, char *token, size_t size, char *error, size_t error_size)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t n = -1;

        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
                n = read(fd, token, size - 1);
        else if (fd >= 0)
                errno = EINVAL;
        if (n < 0)
                snprintf(error, error_size, "bearer_file %s: %s", path, strerror(errno));
        if (fd >= 0)
                (void)close(fd);
        if (n < 0)
                return false;
        token[n] = '\0';
        token[strcspn(token, "\r\n")] = '\0';
        if (good_token(token))
                return true;
        snprintf(error, error_size, "bearer_file %s: expected one line with a token", path);
        return false;
}
