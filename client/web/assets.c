/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.c - names and types of what assets.S brings in. */
#include "client/web/assets.h"

#include <string.h>

#define EMBEDDED(name) extern const char hw_##name[], hw_##name##_end[]

EMBEDDED(page_index);
EMBEDDED(page_js);
EMBEDDED(page_early);
EMBEDDED(page_css);
EMBEDDED(page_report);

#define ASSET(address, kind, name) \
        { .path = (address), .type = (kind), .bytes = hw_##name, .size = (size_t)(hw_##name##_end - hw_##name) }

const struct asset *asset_find(const char *path)
{
        static struct asset found;
        const struct asset all[] = {
                ASSET("/", "text/html; charset=utf-8", page_index),
                ASSET("/app.js", "text/javascript; charset=utf-8", page_js),
                ASSET("/early.js", "text/javascript; charset=utf-8", page_early),
                ASSET("/app.css", "text/css; charset=utf-8", page_css),
        };

        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
                if (strcmp(all[i].path, path))
                        continue;
                found = all[i];
                return &found;
        }
        return NULL;
}

const struct asset *asset_report(void)
{
        static struct asset report;

        report = (struct asset)ASSET("report", "text/html; charset=utf-8", page_report);
        return &report;
}
