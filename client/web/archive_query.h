/* SPDX-License-Identifier: BSD-3-Clause */
/* archive_query.h - a request to /api/archive: the parameters of docs/WEB.md, parsed and checked. */
#ifndef HW_CLIENT_WEB_ARCHIVE_QUERY_H
#define HW_CLIENT_WEB_ARCHIVE_QUERY_H

#include <event2/keyvalq_struct.h>

#include "client/web/archived.h"

struct archive_query {
        size_t daemon;
        struct archived_query data; /* without the host */
};

/* False with a message in `error`. */
bool archive_query_parse(struct archive_query *ret, const struct evkeyvalq *parameters, struct error *error);

#endif
