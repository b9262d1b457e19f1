/* SPDX-License-Identifier: BSD-3-Clause */
/* reload.h - reloads the rules of a running daemon: on SIGHUP, and at a client's request. */
#ifndef HW_DAEMON_CONTROL_RELOAD_H
#define HW_DAEMON_CONTROL_RELOAD_H

#include "daemon/rules/file/rulebook.h"
#include "daemon/target/targets.h"

struct notifier;

/* Reads the rules, applies them to targets and notifier, and logs it. False with diagnostics: nothing has changed. */
bool reload_rules(struct rulebook *book, struct targets *targets, struct notifier *notifier,
                  struct diagnostics *ret_diagnostics);

#endif
