/* SPDX-License-Identifier: BSD-3-Clause */
/* builtin.h - the rules that are on without any file, as the YAML that a file would have. Reasons: docs/RULES.md. */
#ifndef HW_DAEMON_RULES_BUILTIN_H
#define HW_DAEMON_RULES_BUILTIN_H

extern const char builtin_rules[];

#endif
