/* SPDX-License-Identifier: BSD-3-Clause */
/* control.h - POST /api/control: requests that change a daemon. Only if the server was started with --allow-control. */
#ifndef HW_CLIENT_WEB_CONTROL_H
#define HW_CLIENT_WEB_CONTROL_H

#include <event2/http.h>

#include <event2/http.h>

#include "client/http/guard.h"
#include "heapwatch/requester.h"

struct inspections;
struct worker;
struct world;

/* Where requests go. */
struct control_parts {
        struct hw_requester *requester; /* outlives the requests; NULL: there is no daemon */
        size_t n_daemons;
        const struct world *world;    /* where targets are read from */
        struct worker *census_worker; /* a program may take seconds to come to its census */
        struct inspections *inspections;
};

/*
 * Answers now or later, if the role of the token's `holder` allows it; one line of audit either way.
 */
void control_answer(struct evhttp_request *req, const struct control_parts *parts, const struct guard_token *holder);

#endif
