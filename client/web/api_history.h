/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_history.h - answers /api/history: from daemons, all queried at once, or from
 * the world (files). The same query within a second gets the same answer.
 */
#ifndef HW_CLIENT_WEB_API_HISTORY_H
#define HW_CLIENT_WEB_API_HISTORY_H

#include <event2/http.h>

#include "client/state/world.h"
#include <event2/http.h>

#include "heapwatch/requester.h"

struct api_history;

struct api_history_source {
        const struct world *world;
        struct hw_requester *requester; /* NULL: files, the world has everything */
};

/* What `source` points to outlives it. NULL: out of memory. */
struct api_history *api_history_new(const struct api_history_source *source);

/* The requester must have been destroyed before, which answers all queries. */
void api_history_destroy(struct api_history **p);

/* Answers now or later. */
void api_history_answer(struct api_history *p, struct evhttp_request *req, const char *query);

#endif
