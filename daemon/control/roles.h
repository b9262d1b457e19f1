/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roles.h - what each request asks of who sends it, and the audit of those that change something.
 *
 * Of a request that needs more than `read` one line is logged: what, on what, by whom, and what became of it.
 */
#ifndef HW_DAEMON_CONTROL_ROLES_H
#define HW_DAEMON_CONTROL_ROLES_H

#include <stdbool.h>

#include "daemon/transport/bus.h"
#include "proto/keys/key.h"

struct error;

/* The least role that may send it; control for what this version does not know. */
enum key_role role_needed(const Hw__Request *request);

/* False with a sentence: this client's key does not allow it. */
bool role_allows(const struct bus_client *client, const Hw__Request *request, struct error *error);

/* After it was answered: logged and counted, when it is one of those that change something. */
void role_audit(struct bus *bus, struct bus_client *client, const Hw__Request *request, bool allowed);

#endif
