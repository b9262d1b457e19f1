/* SPDX-License-Identifier: BSD-3-Clause */
/* severity.h - how grave an alert is: the label of its rule, in order, and the option --fail-on. */
#ifndef HW_CLIENT_ALERTS_SEVERITY_H
#define HW_CLIENT_ALERTS_SEVERITY_H

#include "client/cli/command.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };

/* "info", "warning", "critical" */
const char *severity_name(enum severity severity);

/* What an alert says of itself (may be NULL); what is not known is a warning, as rules begin. */
enum severity severity_of(const char *label);

/* The value of --fail-on: 0, or reports of the command's usage. */
int severity_option(const struct command *c, const char *text, enum severity *ret);

#endif
