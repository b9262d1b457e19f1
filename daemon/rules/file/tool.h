/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h - what else heapwatchd does with rule files: check and list them. */
#ifndef HW_DAEMON_RULES_FILE_TOOL_H
#define HW_DAEMON_RULES_FILE_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Each returns an exit status: 0, or 2 after reporting errors on stderr. */
int rules_tool_check(char *const *paths, size_t n);
int rules_tool_list(char *const *paths, size_t n, bool in_words);

#endif
