/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_census.h - requests to the agent in a target's program (docs/AGENT.md), above all for a census now.
 *
 * The daemon only says where the target is read from. If that is an agent's socket, the request goes to it
 * directly, on a separate connection; it answers the same user and root. A census of a program that serves its log by
 * eventlog-socket is requested through the daemon (program_control.h).
 */
#ifndef HW_CLIENT_LAUNCH_PROGRAM_AGENT_CENSUS_H
#define HW_CLIENT_LAUNCH_PROGRAM_AGENT_CENSUS_H

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/wire.h"
#include "proto/base/error.h"

/* Where a target is read from; for hw_request, with a status request. */
struct agent_place {
        const char *target;
        const char *endpoint; /* of its daemon; NULL: the default one */
        bool known;
        char uri[512];
};

void agent_find(void *ctx, const Hw__Reply *reply);

/* One request; the answer in `ret`. False with an error message, also if there is no agent. */
bool agent_place_request(const struct agent_place *place, const char *request, char *ret, size_t size,
                         struct error *error);

/* Whether a census of what is read from there can be requested at all. */
bool agent_census_is_possible(const char *uri);

/* Requests a census and waits until it was taken. A sentence about it in `ret`. */
bool agent_census(const struct agent_place *place, char *ret, size_t size, struct error *error);

#endif
