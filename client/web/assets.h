/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assets.h - the page as it was built, inside the program (assets.S). Without
 * Node at build time there is none: sizes are 0 then.
 */
#ifndef HW_CLIENT_ASSETS_H
#define HW_CLIENT_ASSETS_H

#include <stddef.h>

struct asset {
        const char *path;       /* below "/" */
        const char *type;
        const char *bytes;
        size_t size;            /* 0: built without the page */
};

#define ASSETS_MISSING "this heapwatch was built without the browser page; install nodejs and npm and build again"

/* What answers GET `path`, or NULL. */
const struct asset *asset_find(const char *path);

/* The page in one file, with the line that a report's data replace. */
const struct asset *asset_report(void);

#endif
