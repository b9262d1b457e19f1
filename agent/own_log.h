/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_log.h - the eventlog that a program already writes to a file when it is
 * attached to. The agent joins it: from then on both get it.
 *
 * A reader first needs the header and the definitions (preamble.h), which the
 * runtime has written long ago: they are read from that file.
 */
#ifndef HW_AGENT_OWN_LOG_H
#define HW_AGENT_OWN_LOG_H

#include <stdbool.h>

#include "proto/base/error.h"

/* Reads the beginning of the file that the program has open for its log. Nothing needs to be stopped. */
bool own_log_read(struct error *error);

/* Begins a log with what was read; what the runtime writes from now on may follow. */
void own_log_begin(void);

#endif
