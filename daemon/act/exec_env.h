/* SPDX-License-Identifier: BSD-3-Clause */
/* exec_env.h - the environment of an exec action: a notice's fields, and nothing of the daemon's own. Pure. */
#ifndef HW_DAEMON_ACT_EXEC_ENV_H
#define HW_DAEMON_ACT_EXEC_ENV_H

#include "daemon/rules/notice.h"

/* NULL-terminated, in one block to free(). NULL when out of memory. docs/ACTIONS.md lists the names. */
char **exec_env(const struct notice *notice);

#endif
