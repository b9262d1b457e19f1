/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/config/config.h"

#include <event2/event.h>
#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>
#include <zmq.h>
#include <zstd.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

static const char *zmq_release(void)
{
        static char text[32];
        int major, minor, patch;

        zmq_version(&major, &minor, &patch);
        (void)snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
        return text;
}

/* "10.42 2022-12-11": the day is no part of it. */
static const char *pcre2_release(void)
{
        static char text[64];

        if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) > (int)sizeof(text) ||
            pcre2_config(PCRE2_CONFIG_VERSION, text) < 0)
                return "unknown";
        text[strcspn(text, " ")] = '\0';
        return text;
}

void libraries_list(struct library_version ret[static DAEMON_LIBRARIES])
{
        const struct library_version all[DAEMON_LIBRARIES] = {
                { "libevent", event_get_version() },
                { "libzmq", zmq_release() },
                { "protobuf-c", protobuf_c_version() },
                { "libyaml", yaml_get_version_string() },
                { "jansson", jansson_version_str() },
                { "PCRE2", pcre2_release() },
                { "zlib", zlibVersion() },
                { "zstd", ZSTD_versionString() },
        };

        memcpy(ret, all, sizeof(all));
}
