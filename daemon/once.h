/* SPDX-License-Identifier: BSD-3-Clause */
/* once.h - `heapwatchd --once`: finished files through the same stages, to the client that started us. */
#ifndef HW_ONCE_H
#define HW_ONCE_H

#include "config.h"

/* Reads all files in turn. Returns the process's exit status: 0, or 1 when a file could not be read. */
int once_run(const struct config *config);

#endif
