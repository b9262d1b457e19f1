/* SPDX-License-Identifier: BSD-3-Clause */
/* severity.h - how grave an alert is: the label of its rule, in order. */
#ifndef HW_CLIENT_ALERTS_SEVERITY_H
#define HW_CLIENT_ALERTS_SEVERITY_H

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };

/* "info", "warning", "critical", in order; ended by NULL. */
extern const char *const severity_names[];
const char *severity_name(enum severity severity);

/* What an alert says of itself (may be NULL); what is not known is a warning, as rules begin. */
enum severity severity_of(const char *label);

#endif
