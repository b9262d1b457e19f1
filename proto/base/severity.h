/* SPDX-License-Identifier: BSD-3-Clause */
/* severity.h - how severe an alert is: the label of its rule, in order. */
#pragma once

#include <stdbool.h>

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };

/* "info", "warning", "critical", in order; ended by NULL. */
extern const char *const severity_names[];
const char *severity_name(enum severity severity);

/* False, and nothing is written, when `text` is none of the names. */
bool severity_parse(const char *text, enum severity *ret);

/* The severity of an alert's label (may be NULL); an unknown one is a warning, the default of rules. */
enum severity severity_of(const char *label);
