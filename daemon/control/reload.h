/* SPDX-License-Identifier: BSD-3-Clause */
/* reload.h - the rules of a running daemon read again: on SIGHUP, and when a client asks. */
#ifndef HW_DAEMON_CONTROL_RELOAD_H
#define HW_DAEMON_CONTROL_RELOAD_H

#include "daemon/rules/file/rulebook.h"
#include "daemon/target/targets.h"

/* Reads them and changes all targets over; says so in the log. False, with all as it was and the diagnostics. */
bool reload_rules(struct rulebook *book, struct targets *targets, struct diagnostics *ret_diagnostics);

#endif
