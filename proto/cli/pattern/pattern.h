/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.h - regular expressions that users type: PCRE2 within limits, so that
 * none takes more than some milliseconds or kilobytes, to compile or to
 * match.
 *
 * Wherever POSIX extended syntax differs in meaning from PCRE2 (\< and \>,
 * {,n}, x++ and x+?), the expression is refused with what to write instead.
 * A dot means any character, also a line feed. A text is matched as UTF-8, bad
 * bytes as U+FFFD. Groups do not capture, so there are no back references.
 * Not JIT: its memory is neither small nor bounded, and expressions are short.
 */
#pragma once

#include "proto/base/error.h"

#define PATTERN_BYTES_MAX    256u   /* of an expression */
#define PATTERN_NESTING_MAX  32u    /* of parentheses */
#define PATTERN_CODE_MAX     16384u /* bytes that it compiles to */
#define PATTERN_TEXT_MAX     1024u  /* bytes of a text that are looked at */
#define PATTERN_STEPS_MAX    30000u /* of the matcher, for one text */
#define PATTERN_DEPTH_MAX    10000u /* of backtracking */
#define PATTERN_HEAP_KIB_MAX 1024u

struct pattern;

enum pattern_flags {
        PATTERN_WHOLE = 1,    /* the whole text must match, not a part of it */
        PATTERN_CASELESS = 2, /* upper and lower case are the same */
};

/* NULL with a sentence in `error`: what is wrong, and at which character. */
struct pattern *pattern_new(const char *expression, unsigned flags, struct error *error);
void pattern_destroy(struct pattern **p);

enum pattern_result {
        PATTERN_NO,
        PATTERN_YES,
        PATTERN_UNDECIDED /* would take more than the limits allow, or out of memory */
};

enum pattern_result pattern_match(const struct pattern *p, const char *text);
