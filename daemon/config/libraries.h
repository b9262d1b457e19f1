/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.h - the libraries of the daemon, all of which the client has, too. */
#ifndef HW_DAEMON_CONFIG_LIBRARIES_H
#define HW_DAEMON_CONFIG_LIBRARIES_H

#include "proto/cli/version.h"

enum { DAEMON_LIBRARIES = 8 };

/* Texts are static. */
void libraries_list(struct library_version ret[static DAEMON_LIBRARIES]);

#endif
