/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_out.h - the JSON writer: piece by piece, to a stream. proto/wire/json.c
 * writes the messages of the wire with it.
 *
 *     struct json_out j = { .to = stdout };
 *     json_open(&j, '{');
 *     json_member_u64(&j, "live", 42);
 *     json_close(&j, '}');
 *
 * Commas are placed automatically. The caller nests correctly and checks the
 * stream for errors; for JSON in memory see document.h. Text may be anything: it
 * is made valid UTF-8, and control characters (C0, DEL, C1, bidi) are escaped,
 * so it is safe on a terminal too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
        FILE *to;
        bool comma; /* the next member needs one before it */
        bool line;  /* and begins a line */
};

void json_open(struct json_out *j, char bracket); /* '{' or '[' */
void json_close(struct json_out *j, char bracket);
void json_key(struct json_out *j, const char *key);      /* plain ASCII */
void json_text_key(struct json_out *j, const char *key); /* any text */

/* The next member of this object or list begins a line, unless it is the first. */
void json_line(struct json_out *j);

/* A line feed here; what follows it is still the same JSON. */
void json_newline(struct json_out *j);

void json_bool(struct json_out *j, bool value);
void json_none(struct json_out *j); /* null; that name is jansson's */
void json_u64(struct json_out *j, uint64_t value);
void json_i64(struct json_out *j, int64_t value);
void json_u64_string(struct json_out *j, uint64_t value); /* "42", as protobuf's JSON has 64-bit integers */
void json_i64_string(struct json_out *j, int64_t value);
void json_seconds(struct json_out *j, uint64_t ns); /* 1.5, exactly */

/* null when not finite */
void json_double(struct json_out *j, double value);  /* reads back as the same double */
void json_rounded(struct json_out *j, double value); /* three decimals, none from 10^6 on */
void json_short(struct json_out *j, double value);   /* nine significant digits, or all of a whole number */

void json_text(struct json_out *j, const char *text); /* NULL: null */
void json_text_bytes(struct json_out *j, const void *bytes, size_t n);
void json_base64(struct json_out *j, const void *bytes, size_t n);

/* A member: its key, and the value as above. */
void json_member_open(struct json_out *j, const char *key, char bracket);
void json_member_bool(struct json_out *j, const char *key, bool value);
void json_member_u64(struct json_out *j, const char *key, uint64_t value);
void json_member_i64(struct json_out *j, const char *key, int64_t value);
void json_member_u64_string(struct json_out *j, const char *key, uint64_t value);
void json_member_seconds(struct json_out *j, const char *key, uint64_t ns);
void json_member_double(struct json_out *j, const char *key, double value);
void json_member_short(struct json_out *j, const char *key, double value);
void json_member_text(struct json_out *j, const char *key, const char *text);

/* The same; nothing when it is not known (text: NULL). */
void json_known_u64(struct json_out *j, const char *key, bool known, uint64_t value);
void json_known_double(struct json_out *j, const char *key, bool known, double value);
void json_known_text(struct json_out *j, const char *key, const char *text);
void json_known_wall(struct json_out *j, const char *key, uint64_t wall_ns); /* as RFC 3339; not UINT64_MAX */

/* A value that is JSON already. */
void json_raw(struct json_out *j, const char *json);
void json_raw_bytes(struct json_out *j, const char *json, size_t n);

/* A quoted and escaped string outside of any JSON. */
void json_quote(FILE *to, const void *bytes, size_t n);

/* Digits of a number: much faster than printf. */
void json_digits(FILE *to, uint64_t value);
