/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one rule finds both sockets, so that a user names only one. The
 * directory is private to its user; the daemon, which makes it, also checks that.
 */
#include "proto/wire/endpoints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/digits.h"
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

int endpoint_request(char *ret_request, size_t size, const char *publish)
{
        if (strlen(publish) >= ENDPOINT_MAX)
                return -ENAMETOOLONG;
        if (!strncmp(publish, "ipc://", 6)) {
                static const char word[] = "publish";
                const char *last = NULL;

                for (const char *at = strstr(publish, word); at; at = strstr(at + 1, word))
                        last = at;
                if (!last)
                        return -EINVAL;
                return fits(snprintf(ret_request, size, "%.*srequest%s", (int)(last - publish), publish,
                                     last + strlen(word)),
                            size);
        }
        if (!strncmp(publish, "tcp://", 6)) {
                const char *colon = strrchr(publish, ':');
                uint64_t port;

                if (colon == publish + strlen("tcp") || strlen(colon + 1) > 5 ||
                    !digits_parse(colon + 1, 65534, &port) || port == 0)
                        return -EINVAL;
                return fits(snprintf(ret_request, size, "%.*s:%" PRIu64, (int)(colon - publish), publish, port + 1),
                            size);
        }
        return -EINVAL;
}
