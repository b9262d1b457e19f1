/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/state_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/hash.h"

/* Root keeps what services share in the system's directory, unless it has been given a home of another name. */
static bool is_system(const char *home)
{
        return geteuid() == 0 && (!home || !strcmp(home, "/root") || !strcmp(home, "/") || !home[0]);
}

int state_path(char *out, size_t size, const char *name, const char *publish_endpoint)
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *below = "", *directory = state;
        char usual[256], request[256], tag[24] = "";

        if (!state || state[0] != '/') {
                directory = is_system(home) ? "/var/lib" : home;
                below = is_system(home) ? "" : "/.local/state";
        }
        if (!directory || directory[0] != '/')
                return -ENOENT;
        if (publish_endpoint &&
            (hw_default_endpoints(usual, request, sizeof(usual)) < 0 || strcmp(usual, publish_endpoint) != 0))
                snprintf(tag, sizeof(tag), "-%016" PRIx64, hash_bytes(publish_endpoint, strlen(publish_endpoint), 0));
        int n = snprintf(out, size, "%s%s/heapwatch/%s%s.json", directory, below, name, tag);
        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
