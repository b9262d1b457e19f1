/* SPDX-License-Identifier: BSD-3-Clause */
/* agent_request.h - one request to an agent, on its socket (docs/AGENT.md). */
#ifndef HW_PROTO_BASE_AGENT_REQUEST_H
#define HW_PROTO_BASE_AGENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

/*
 * For the answer, where the user waits and can end that: a program that is not threaded gives it at its next
 * collection, others when their threads have been stopped, which takes seconds where much else is to do.
 */
#define ASK_MS 30000

/*
 * What it answered after "ok" in ret_said (may be NULL). False with an error
 * message: nobody is there, no answer came within `wait_ms`, or the agent's
 * reason to refuse.
 */
bool agent_request(const char *path, const char *request, uint64_t wait_ms, char *ret_said, size_t size,
                   struct error *error);

#endif
