/* SPDX-License-Identifier: BSD-3-Clause */
/* agent_request.h - one request to an agent, on its socket (docs/AGENT.md). */
#ifndef HW_CLIENT_PROGRAM_AGENT_REQUEST_H
#define HW_CLIENT_PROGRAM_AGENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"

/*
 * For the answer: a program that is not threaded gives it at its next collection, others when their threads have been
 * stopped, which takes seconds where much else is to do. Only the user waits, and can end that.
 */
#define ASK_MS 30000

/*
 * What it answered after "ok" in ret_said (may be NULL). False with an error
 * message: nobody is there, no answer came in time, or the agent's reason to
 * refuse.
 */
bool agent_request(const char *path, const char *request, char *ret_said, size_t size, struct error *error);

#endif
