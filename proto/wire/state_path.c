/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/state_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/hash.h"

int state_path(char *out, size_t size, const char *name, const char *publish_endpoint)
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *below = "", *directory = state;
        char usual[256], request[256], tag[24] = "";

        if (!state || state[0] != '/') {
                directory = geteuid() == 0 ? "/var/lib" : home;
                below = geteuid() == 0 ? "" : "/.local/state";
        }
        if (!directory || directory[0] != '/')
                return -ENOENT;
        if (publish_endpoint &&
            (hw_default_endpoints(usual, request, sizeof(usual)) < 0 || strcmp(usual, publish_endpoint) != 0))
                snprintf(tag, sizeof(tag), "-%016" PRIx64, hash_bytes(publish_endpoint, strlen(publish_endpoint), 0));
        int n = snprintf(out, size, "%s%s/heapwatch/%s%s.json", directory, below, name, tag);
        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
