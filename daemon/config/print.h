/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - the effective configuration as a configuration file, on standard output. */
#ifndef HW_DAEMON_CONFIG_PRINT_H
#define HW_DAEMON_CONFIG_PRINT_H

#include "daemon/config/config.h"

/* What it prints, read with --config, gives the same configuration again. */
void config_print(const struct config *c);

#endif
