/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - numbers as people read them, and text from outside made safe.
 *
 * All writers take a buffer and its size, always terminate it, and return
 * the buffer. Nothing here depends on the locale.
 */
#ifndef HEAPWATCH_TEXT_H
#define HEAPWATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_NUMBER_MAX 32 /* enough for any of these */

/* "512 B", "1.23 MiB": binary units, three significant digits. */
char *hw_bytes_text(char *out, size_t size, double bytes);

/* "1.23 MiB/s", "-4.50 KiB/min", "12.0 B/h": the shortest period in which the rate is 1 KiB or more. */
char *hw_rate_text(char *out, size_t size, double bytes_per_s);

/* "850 ns", "1.25 ms", "3.20 s", "2m 05s", "1h 02m", "3d 04h". */
char *hw_duration_text(char *out, size_t size, double ns);

/* "0.3 %" of a fraction 0.003. */
char *hw_share_text(char *out, size_t size, double fraction);

/* "12,345,678" */
char *hw_count_text(char *out, size_t size, uint64_t count);

/* UTC "2026-11-20T20:09:03.123Z" of Unix nanoseconds. */
char *hw_time_text(char *out, size_t size, uint64_t wall_ns);

/*
 * Parses "512", "64k", "1.5GiB" (binary units) into bytes, "500ms", "30s", "5m",
 * "2h", "1d" into ns; the whole text must match.
 */
bool hw_parse_bytes(const char *text, uint64_t *ret_bytes);
bool hw_parse_duration(const char *text, uint64_t *ret_ns);

/* Copies bytes as valid UTF-8: a bad byte becomes U+FFFD; cut at a character; controls stay. Returns the length. */
size_t hw_utf8_clean(char *out, size_t size, const void *bytes, size_t n);

bool hw_utf8_valid(const void *bytes, size_t n);

/*
 * Safe for a terminal or a log line: control characters (C0, DEL, C1, bidi
 * overrides) become \n, \t, \xNN or \u{NNNN}. Returns the length.
 */
size_t hw_terminal_text(char *out, size_t size, const char *text);

#ifdef __cplusplus
}
#endif
#endif
