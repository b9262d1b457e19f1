/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silence_state.h - silences as a JSON text that is kept across restarts; everything in it is checked when read. Pure:
 * silence_store.h handles the file.
 */
#ifndef HW_DAEMON_ALERTING_SILENCE_STATE_H
#define HW_DAEMON_ALERTING_SILENCE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/alerting/silence.h"

struct error;

#define SILENCE_STATE_BYTES_MAX (4u << 20) /* of the text */

/* A string to free(); NULL when out of memory. */
char *silence_state_text(const struct silences *silences);

/*
 * Replaces the silences by those of the text; silences that are over are left out. False with a sentence (where, what
 * was expected) in `error`: then they are unchanged.
 */
bool silence_state_parse(const char *text, size_t size, uint64_t now_wall_ns, struct silences *silences,
                         struct error *error);

#endif
