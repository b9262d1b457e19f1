/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builtin.h - the rules that are in force without any file, as YAML documents; NULL after the last. Reasons:
 * docs/RULES.md.
 */
#ifndef HW_DAEMON_RULES_BUILTIN_H
#define HW_DAEMON_RULES_BUILTIN_H

extern const char *const builtin_rules[];

#endif
