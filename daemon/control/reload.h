/* SPDX-License-Identifier: BSD-3-Clause */
/* reload.h - the rules of a running daemon read again: on SIGHUP, and when a client asks. */
#ifndef HW_DAEMON_CONTROL_RELOAD_H
#define HW_DAEMON_CONTROL_RELOAD_H

#include "daemon/rules/file/rulebook.h"
#include "daemon/target/targets.h"

struct notifier;

/* Reads them, changes targets and notifier over, says so in the log. False, all as it was, with the diagnostics. */
bool reload_rules(struct rulebook *book, struct targets *targets, struct notifier *notifier,
                  struct diagnostics *ret_diagnostics);

#endif
