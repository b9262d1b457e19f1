/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools.h - the tools that an assistant has: each is a command of heapwatch that only reads. The schema that it is
 * shown and the check of what it sends are made from one table.
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>

#include "proto/base/error.h"

/* All of them with their schemas, a new reference. NULL: out of memory. */
json_t *tools_list(void);

/*
 * The result of a call, a new reference: what the command printed, or the sentence of what went wrong, marked as an
 * error. `arguments`: an object, or NULL. NULL: there is no such tool, with a sentence. Blocks, until another thread
 * sets `stop`. Calls may run in several threads.
 */
json_t *tools_call(const char *name, const json_t *arguments, const atomic_bool *stop, struct error *error);
