/* SPDX-License-Identifier: BSD-3-Clause */
/* control.h - POST /api/control: what changes a daemon. Only where the server was started with --allow-control. */
#ifndef HW_CLIENT_WEB_CONTROL_H
#define HW_CLIENT_WEB_CONTROL_H

#include <event2/http.h>

#include "client/web/asker.h"

/* Answers now or later. `askers` outlive the request. */
void control_answer(struct evhttp_request *req, struct asker **askers, size_t n_askers);

#endif
