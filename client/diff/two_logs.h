/* SPDX-License-Identifier: BSD-3-Clause */
/* two_logs.h - what `heapwatch diff BASELINE NEW --format json` prints, for other commands with two logs. */
#ifndef HW_CLIENT_DIFF_TWO_LOGS_H
#define HW_CLIENT_DIFF_TWO_LOGS_H

#include <stdbool.h>

struct command;
struct json_out;

/* Reads both logs and writes one object. False after a report in the name of `command`; then nothing is written. */
bool two_logs_json(struct json_out *j, const struct command *command, const char *baseline, const char *new_log);

#endif
