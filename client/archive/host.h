/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the machine that a daemon runs on, as the column `host` of an archive has it. */
#ifndef HW_CLIENT_ARCHIVE_HOST_H
#define HW_CLIENT_ARCHIVE_HOST_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* HOST of tcp://HOST:PORT, otherwise the name of this machine. */
static inline void archive_host(char *out, size_t size, const char *endpoint)
{
        if (endpoint && !strncmp(endpoint, "tcp://", 6))
                (void)snprintf(out, size, "%.*s", (int)strcspn(endpoint + 6, ":"), endpoint + 6);
        else if (gethostname(out, size - 1) < 0)
                *out = '\0';
        out[size - 1] = '\0';
}

#endif
