/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - what actions must not forget over a restart, as text: silences, and
 * which alerts were acted on. JSON; everything in it is checked when it is read.
 * Pure: files are file.h's business.
 */
#ifndef HW_DAEMON_ACT_STATE_H
#define HW_DAEMON_ACT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/act/desk.h"
#include "daemon/act/silence.h"

#define STATE_BYTES_MAX (4u << 20) /* of the text */

/* A string to free(); NULL when out of memory. */
char *state_text(const struct silences *silences, const struct desk_done *done, size_t n_done);

/*
 * Adds what the text says to both; silences that are over are left out. False
 * with a sentence (where, what was expected) in `error`: then both are as before.
 */
bool state_parse(const char *text, size_t size, uint64_t now_wall_ns, struct silences *silences, struct desk *desk,
                 char *error, size_t error_size);

#endif
