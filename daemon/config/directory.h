/* SPDX-License-Identifier: BSD-3-Clause */
/* directory.h - a directory as typed. */
#ifndef HW_DAEMON_CONFIG_DIRECTORY_H
#define HW_DAEMON_CONFIG_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"

/* Makes it absolute. False with a sentence; `to` is then "". */
bool config_directory(char *to, size_t size, const char *value, struct error *error);

#endif
