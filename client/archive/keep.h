/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.h - what an archive deletes: rows older than their table's limit, and, when the file exceeds its size, the
 * oldest rows of the finest tables. Age counts from the event; for a log that was archived later, from then.
 */
#ifndef HW_CLIENT_ARCHIVE_KEEP_H
#define HW_CLIENT_ARCHIVE_KEEP_H

#include "client/archive/database.h"
#include "client/archive/schema.h"

#define KEEP_TABLES 16

struct keep {
        uint64_t seconds[KEEP_TABLES]; /* by table; 0: forever */
        uint64_t max_bytes;            /* 0: no cap */
};

void keep_defaults(struct keep *k);

/* "series_1m=30d", "bands_10m=forever". False with a message. */
bool keep_parse(struct keep *k, const char *text, struct error *error);

/* SQLITE_OK, or an error. `ret_bytes`: bytes in use afterwards. */
int keep_apply(struct database *d, const struct keep *k, uint64_t now_s, uint64_t *ret_bytes);

#endif
