/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one rule finds both sockets, so that a user names only one. The
 * directory is private to its user; the daemon, which makes it, also checks that.
 */
#include "proto/wire/endpoints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/own_directory.h"

static int fits(int n, size_t size)
{
        return n >= 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int hw_default_directory(char *ret_path, size_t size)
{
        return own_directory(ret_path, size, SESSION_DIRECTORIES, geteuid());
}

int hw_default_endpoints(char *ret_publish, char *ret_request, size_t size)
{
        char directory[ENDPOINT_MAX];
        int r = hw_default_directory(directory, sizeof(directory));

        if (r < 0)
                return r;
        if (strlen(directory) + sizeof("/publish") > sizeof(((struct sockaddr_un *)NULL)->sun_path))
                return -ENAMETOOLONG; /* such a socket can be neither bound nor connected */
        r = fits(snprintf(ret_publish, size, "ipc://%s/publish", directory), size);
        if (r < 0)
                return r;
        return fits(snprintf(ret_request, size, "ipc://%s/request", directory), size);
}

static int request_of_ipc(char *out, size_t size, const char *publish)
{
        static const char word[] = "publish";
        const char *last = NULL;

        for (const char *at = strstr(publish, word); at; at = strstr(at + 1, word))
                last = at;
        if (!last)
                return -EINVAL;
        return fits(snprintf(out, size, "%.*srequest%s", (int)(last - publish), publish, last + strlen(word)), size);
}

static int request_of_tcp(char *out, size_t size, const char *publish)
{
        const char *colon = strrchr(publish, ':');
        unsigned port = 0;
        size_t digits = strspn(colon + 1, "0123456789");

        if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' || colon == publish + strlen("tcp"))
                return -EINVAL;
        for (size_t i = 1; i <= digits; i++)
                port = port * 10 + (unsigned)(colon[i] - '0');
        if (port == 0 || port >= 65535)
                return -EINVAL;
        return fits(snprintf(out, size, "%.*s:%u", (int)(colon - publish), publish, port + 1), size);
}

int endpoint_request(char *ret_request, size_t size, const char *publish)
{
        if (strlen(publish) >= ENDPOINT_MAX)
                return -ENAMETOOLONG;
        if (!strncmp(publish, "ipc://", 6))
                return request_of_ipc(ret_request, size, publish);
        if (!strncmp(publish, "tcp://", 6))
                return request_of_tcp(ret_request, size, publish);
        return -EINVAL;
}
