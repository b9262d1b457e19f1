/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/endpoints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/wire.h"
#include "proto/base/hash.h"

#define TAG_BYTES 24

/* Root keeps what services share in the system's directory, unless it has been given a home of another name. */
static bool is_system(const char *home)
{
        return geteuid() == 0 && (!home || !strcmp(home, "/root") || !strcmp(home, "/") || !home[0]);
}

static int path(char *out, size_t size, const char *name, const char *tag, const char *suffix)
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *below = "", *directory = state;

        if (!state || state[0] != '/') {
                directory = is_system(home) ? "/var/lib" : home;
                below = is_system(home) ? "" : "/.local/state";
        }
        if (!directory || directory[0] != '/')
                return -ENOENT;
        int n = snprintf(out, size, "%s%s/heapwatch/%s%s%s", directory, below, name, tag, suffix);
        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static void tag_of(const char *endpoint, char tag[TAG_BYTES])
{
        snprintf(tag, TAG_BYTES, "-%016" PRIx64, hash_bytes(endpoint, strlen(endpoint), 0));
}

int state_path(char *out, size_t size, const char *name, const char *publish_endpoint)
{
        char usual[256], request[256], tag[TAG_BYTES] = "";

        if (publish_endpoint &&
            (hw_default_endpoints(usual, request, sizeof(usual)) < 0 || strcmp(usual, publish_endpoint) != 0))
                tag_of(publish_endpoint, tag);
        return path(out, size, name, tag, ".json");
}

int state_directory(char *out, size_t size, const char *publish_endpoint)
{
        char usual[64], tag[TAG_BYTES] = "";

        snprintf(usual, sizeof(usual), "ipc:///run/user/%lu/heapwatch/publish", (unsigned long)geteuid());
        if (strcmp(publish_endpoint, usual) != 0 &&
            (geteuid() != 0 || strcmp(publish_endpoint, "ipc:///run/heapwatch/publish") != 0))
                tag_of(publish_endpoint, tag);
        return path(out, size, "daemon", tag, "");
}
