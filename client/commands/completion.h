/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.h - `heapwatch completion`: scripts for shells, which all call
 * `heapwatch --complete WORD...`, and the values that a daemon knows.
 */
#pragma once

#include "proto/cli/complete.h"

extern const struct command command_completion;

/* Targets, series and rules of the user's own daemon; nothing when it does not answer at once. */
void completion_values(const struct complete_place *p);
