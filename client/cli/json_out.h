/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_out.h - JSON written piece by piece to a stream, for what is no wire
 * message (those are written by hw_json).
 *
 *     struct json_out j = { .to = stdout };
 *     json_open(&j, '{');
 *     json_key(&j, "live"); json_u64(&j, 42);
 *     json_close(&j, '}');
 *
 * Commas are placed by themselves. The caller nests rightly and looks at the
 * stream for errors. Text may be anything: it is made valid UTF-8, and control
 * characters (C0, DEL, C1, bidi) are escaped, so it is safe on a terminal too.
 */
#ifndef HW_CLIENT_CLI_JSON_OUT_H
#define HW_CLIENT_CLI_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
        FILE *to;
        bool comma; /* the next member needs one before it */
};

void json_open(struct json_out *j, char bracket); /* '{' or '[' */
void json_close(struct json_out *j, char bracket);
void json_key(struct json_out *j, const char *key); /* plain ASCII */
void json_u64(struct json_out *j, uint64_t value);
void json_double(struct json_out *j, double value); /* null when it is not finite */
void json_bool(struct json_out *j, bool value);
void json_text(struct json_out *j, const char *text); /* NULL: null */
void json_text_bytes(struct json_out *j, const void *bytes, size_t n);
void json_base64(struct json_out *j, const void *bytes, size_t n);

/* A quoted and escaped string outside of any JSON. */
void json_quote(FILE *to, const void *bytes, size_t n);

/* Digits of a number: much faster than printf. */
void json_digits(FILE *to, uint64_t value);

#endif
