/* SPDX-License-Identifier: BSD-3-Clause */
/* absent.h - what to say when a daemon or a target is not there: always in the same words, with what to do. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heapwatch/wire.h"
#include "proto/cli/command.h"

struct error;

#define ABSENT_TEXT 1024

#define ABSENT_MS 5000 /* without an answer a daemon counts as absent, or as busy where it listens */

/*
 * Describes a daemon that did not answer: "no daemon answers at EP; ...", or "the daemon at EP listens, has not
 * answered within 5 s: ...". Returns `out`. Of a TCP endpoint it connects to see why, 3 s at most.
 */
char *absent_daemon(char *out, size_t size, const char *endpoint);

/* Whether nobody listens at a local endpoint, so that no answer will come. False for other endpoints. */
bool absent_at_once(const char *endpoint);

/* Sends a request and waits ABSENT_MS (hw_request). False with an error; request NULL: out of memory. */
bool absent_request(const char *endpoint, Hw__Request *request, void (*each)(void *ctx, const Hw__Reply *reply),
                    void *ctx, struct error *error);

/*
 * Whether no daemon of ours can be at an ipc endpoint: it cannot be trusted (hw_endpoint_check), or nobody listens
 * and heapwatchd refuses its directory; `error` says what to change. False for other endpoints.
 */
bool absent_for_good(const char *endpoint, struct error *error);

/* Reports that the daemon at `endpoint` has no such target, and which one may have been meant. Returns EXIT_USAGE. */
int absent_target(const struct command *c, const char *endpoint, const char *name);

/* The same where that is not known yet: requests the daemon's list, and reports only if the target is not in it. */
bool absent_check_target(const struct command *c, const char *endpoint, const char *name);
