/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_census.h - requests to the agent in a target's program (docs/AGENT.md), above all for a census now.
 *
 * The daemon only says where the target is read from. If that is an agent's socket, the request goes to it
 * directly, on a separate connection; it answers the same user and root. To a program that serves its log by
 * eventlog-socket commands go through the daemon (program_control.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/wire.h"
#include "proto/base/error.h"
#include "proto/wire/program_command.h"

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

/*
 * Sends a command and waits for its effect: a census also to the agent. A sentence about it in `ret`. False with an
 * error: there was none that is seen.
 */
bool program_request(const struct agent_place *place, const struct program_command *command, char *ret, size_t size,
                     struct error *error);
