/* SPDX-License-Identifier: BSD-3-Clause */
/* silence_requests.h - answers the requests about silences. */
#ifndef HW_DAEMON_CONTROL_SILENCE_REQUESTS_H
#define HW_DAEMON_CONTROL_SILENCE_REQUESTS_H

#include "daemon/transport/bus.h"

struct ruleset;
struct silence_store;

/* A name that no rule has is refused, with the nearest name: it would silence nothing. Any pattern is accepted. */
void silence_requests_add(struct silence_store *store, const struct ruleset *rules, const Hw__SilenceRequest *request,
                          struct bus_client *client);
void silence_requests_remove(struct silence_store *store, const Hw__UnsilenceRequest *request,
                             struct bus_client *client);
void silence_requests_list(struct silence_store *store, struct bus_client *client);

#endif
