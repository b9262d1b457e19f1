/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - one character at a time: decoding with all of UTF-8's rules, and which characters steer a screen. */
#ifndef HW_PROTO_BASE_UTF8_H
#define HW_PROTO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at `bytes` (n of them, at least one). Returns its
 * length 1..4, or 0 when no valid character begins there: overlong, surrogate,
 * beyond U+10FFFF, cut off.
 */
size_t utf8_decode(const void *bytes, size_t n, uint32_t *ret_code);

/* The greatest length up to `n` at which valid UTF-8 of more than n bytes can be cut. */
size_t utf8_cut(const char *text, size_t n);

/*
 * True for characters that change how the text around them is shown: C0, DEL,
 * C1, line and paragraph separators, bidirectional controls, invisible marks.
 */
bool utf8_is_control(uint32_t code);

#endif
