/* SPDX-License-Identifier: BSD-3-Clause */
/* control.h - POST /api/control: requests that change a daemon. Only if the server was started with --allow-control. */
#ifndef HW_CLIENT_WEB_CONTROL_H
#define HW_CLIENT_WEB_CONTROL_H

#include <event2/http.h>

#include <event2/http.h>

#include "client/serve/guard.h"
#include "heapwatch/requester.h"

/*
 * Answers now or later, if the role of the token's `holder` allows it; one line of audit either way. The requester
 * outlives the request; NULL: there is no daemon.
 */
void control_answer(struct evhttp_request *req, struct hw_requester *requester, size_t n_daemons,
                    const struct guard_token *holder);

#endif
