/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pasts.h - answers /api/history: from daemons, asked in one go, or from what
 * was gathered (files). The same question within a second gets the same answer.
 */
#ifndef HW_CLIENT_WEB_PASTS_H
#define HW_CLIENT_WEB_PASTS_H

#include <event2/http.h>

#include "client/state/world.h"
#include <event2/http.h>

#include "heapwatch/requester.h"

struct pasts;

struct pasts_source {
        const struct world *world;
        struct hw_requester *requester; /* NULL: files, the world has all */
};

/* What `source` points to outlives it. NULL: out of memory. */
struct pasts *pasts_new(const struct pasts_source *source);

/* The requester must be gone: so all questions are answered. */
void pasts_destroy(struct pasts **p);

/* Answers now or later. */
void pasts_answer(struct pasts *p, struct evhttp_request *req, const char *query);

#endif
