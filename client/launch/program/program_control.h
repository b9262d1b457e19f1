/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_control.h - a command to a program that serves its log by eventlog-socket (proto/wire/program_command.h), and
 * the effect that it had.
 *
 * The program has one connection, which is the daemon's, so the daemon sends it. It never answers: the daemon is asked
 * for the target's state until that shows an effect, or time is over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/wire/program_command.h"

#define PROGRAM_CONTROL_MS 10000 /* for an effect */

/*
 * Sends it by the daemon of this publish endpoint (NULL: the default one). In `ret` a sentence about what
 * was seen of it; *ret_seen: an effect, or that what was switched off no longer comes. False with an error: it was not
 * sent.
 */
bool program_control(const char *endpoint, const char *target, const struct program_command *command, char *ret,
                     size_t size, bool *ret_seen, struct error *error);
