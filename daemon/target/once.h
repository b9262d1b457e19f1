/* SPDX-License-Identifier: BSD-3-Clause */
/* once.h - `heapwatchd --once`: sends finished files through the same stages to the client that started us. */
#ifndef HW_DAEMON_TARGET_ONCE_H
#define HW_DAEMON_TARGET_ONCE_H

#include "daemon/config/config.h"

struct ruleset;

/* Reads all files, judging by `rules`. Returns the exit status: 0, or 1 when a file could not be read. */
int once_run(const struct config *config, const struct ruleset *rules);

#endif
