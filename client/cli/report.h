/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - one line per message to standard error: `level what key=value`, as the
 * daemon writes its log, whose standard error it usually is.
 *
 * A line that the other side cannot take now is dropped: actions never wait for a
 * reader. The caller makes bytes from outside safe (hw_terminal_text); control
 * characters that are left become '?'.
 */
#pragma once

#include "proto/base/log_line.h"

/* Lines above `level` are left out. Default: LOG_INFO. */
void report_set_level(enum log_level level);

void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
