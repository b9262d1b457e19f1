/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec_env.h - the environment of an exec action: an event's fields, and nothing of the notifier's own
 * environment. Pure.
 */
#ifndef HW_CLIENT_NOTIFY_EXEC_ENV_H
#define HW_CLIENT_NOTIFY_EXEC_ENV_H

#include "client/notify/alert_event.h"

/* NULL-terminated, in one block to free(). NULL when out of memory. docs/ACTIONS.md lists the names. */
char **exec_env(const struct alert_event *event);

#endif
