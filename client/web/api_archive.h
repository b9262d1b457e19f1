/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_archive.h - answers /api/archive: what an archive has of a target, besides what its daemon remembers.
 */
#ifndef HW_CLIENT_WEB_API_ARCHIVE_H
#define HW_CLIENT_WEB_API_ARCHIVE_H

#include "client/api/state_json.h"
#include "client/web/worker.h"

struct archive_source {
        const char *path;        /* NULL: files, or no home for one */
        const struct feed *feed; /* names the daemons */
        struct worker *worker;
};

/* Answers now or later. No such file: {"archive":false} and no runs. All of the source outlives the answer. */
void api_archive_answer(const struct archive_source *s, struct evhttp_request *req, const char *query);

#endif
