/* SPDX-License-Identifier: BSD-3-Clause */
/* json_out.c - DESIGN: straight to the stream, nothing is built in memory; runs of plain characters go in one piece. */
#include "proto/base/json_out.h"

#include <math.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

static void put_text(struct json_out *j, const char *text)
{
        (void)fputs_unlocked(text, j->to);
}

static void put_separator(struct json_out *j)
{
        if (j->comma)
                put_text(j, j->line ? ",\n" : ",");
        j->comma = true;
        j->line = false;
}

void json_open(struct json_out *j, char bracket)
{
        put_separator(j);
        (void)putc_unlocked(bracket, j->to);
        j->comma = false;
}

void json_close(struct json_out *j, char bracket)
{
        (void)putc_unlocked(bracket, j->to);
        j->comma = true;
        j->line = false;
}

void json_line(struct json_out *j)
{
        j->line = true;
}

void json_key(struct json_out *j, const char *key)
{
        put_separator(j);
        (void)putc_unlocked('"', j->to);
        put_text(j, key);
        put_text(j, "\":");
        j->comma = false;
}

void json_text_key(struct json_out *j, const char *key)
{
        put_separator(j);
        json_quote(j->to, key, strlen(key));
        put_text(j, ":");
        j->comma = false;
}

void json_digits(FILE *to, uint64_t value)
{
        char digits[20];
        size_t at = sizeof(digits);

        do
                digits[--at] = (char)('0' + value % 10);
        while (value /= 10);
        (void)fwrite_unlocked(digits + at, 1, sizeof(digits) - at, to);
}

void json_u64(struct json_out *j, uint64_t value)
{
        put_separator(j);
        json_digits(j->to, value);
}

static void signed_digits(FILE *to, int64_t value)
{
        if (value < 0)
                (void)putc_unlocked('-', to);
        json_digits(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_i64(struct json_out *j, int64_t value)
{
        put_separator(j);
        signed_digits(j->to, value);
}

void json_i64_string(struct json_out *j, int64_t value)
{
        put_separator(j);
        (void)putc_unlocked('"', j->to);
        signed_digits(j->to, value);
        (void)putc_unlocked('"', j->to);
}

void json_u64_string(struct json_out *j, uint64_t value)
{
        put_separator(j);
        (void)putc_unlocked('"', j->to);
        json_digits(j->to, value);
        (void)putc_unlocked('"', j->to);
}

void json_seconds(struct json_out *j, uint64_t ns)
{
        unsigned digits = 9, part = (unsigned)(ns % 1000000000);

        put_separator(j);
        json_digits(j->to, ns / 1000000000);
        if (!part)
                return;
        for (; part % 10 == 0; digits--)
                part /= 10;
        (void)fprintf(j->to, ".%0*u", (int)digits, part);
}

void json_double(struct json_out *j, double value)
{
        char number[DECIMAL_MAX];

        put_separator(j);
        if (value >= 0 && value < 9e15 && !(value < floor(value)) && !(value > floor(value)))
                json_digits(j->to, (uint64_t)value);
        else
                put_text(j, isfinite(value) ? decimal_shortest(number, value) : "null");
}

void json_rounded(struct json_out *j, double value)
{
        double unit = fabs(value) < 1e6 ? 1000 : 1;

        json_double(j, fabs(value) < 9e15 ? nearbyint(value * unit) / unit : value);
}

void json_short(struct json_out *j, double value)
{
        char number[DECIMAL_MAX];

        put_separator(j);
        put_text(j, isfinite(value) ? decimal_short(number, value) : "null");
}

void json_bool(struct json_out *j, bool value)
{
        put_separator(j);
        put_text(j, value ? "true" : "false");
}

void json_none(struct json_out *j)
{
        put_separator(j);
        put_text(j, "null");
}

void json_raw(struct json_out *j, const char *json)
{
        put_separator(j);
        put_text(j, json);
}

void json_raw_bytes(struct json_out *j, const char *json, size_t n)
{
        put_separator(j);
        (void)fwrite_unlocked(json, 1, n, j->to);
}

void json_newline(struct json_out *j)
{
        (void)putc_unlocked('\n', j->to);
}

static void put_escape(FILE *to, uint32_t code)
{
        if (code == '"' || code == '\\')
                (void)fprintf(to, "\\%c", (int)code);
        else if (code == '\n' || code == '\t' || code == '\r')
                (void)fputs(code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r", to);
        else if (code >= 0x10000)
                (void)fprintf(to, "\\u%04X\\u%04X", 0xD7C0u + (unsigned)(code >> 10),
                              0xDC00u + (unsigned)(code & 0x3FF));
        else
                (void)fprintf(to, "\\u%04X", (unsigned)code);
}

void json_quote(FILE *to, const void *bytes, size_t n)
{
        const char *text = n ? bytes : ""; /* 0 bytes may come as NULL */
        size_t plain = 0, at = 0;          /* text[plain..at) needs no change */

        (void)putc_unlocked('"', to);
        while (at < n) {
                uint32_t code = 0;
                size_t length = utf8_decode(text + at, n - at, &code);
                if (length && !utf8_is_control(code) && code != '"' && code != '\\') {
                        at += length;
                        continue;
                }
                (void)fwrite_unlocked(text + plain, 1, at - plain, to);
                if (length)
                        put_escape(to, code);
                else
                        (void)fputs_unlocked("\xEF\xBF\xBD", to);
                at += length ? length : 1;
                plain = at;
        }
        (void)fwrite_unlocked(text + plain, 1, at - plain, to);
        (void)putc_unlocked('"', to);
}

void json_text_bytes(struct json_out *j, const void *bytes, size_t n)
{
        put_separator(j);
        json_quote(j->to, bytes, n);
}

void json_text(struct json_out *j, const char *text)
{
        if (text)
                json_text_bytes(j, text, strlen(text));
        else
                json_none(j);
}

void json_base64(struct json_out *j, const void *bytes, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const uint8_t *p = bytes;

        put_separator(j);
        (void)putc_unlocked('"', j->to);
        for (size_t at = 0; at < n; at += 3) {
                size_t have = n - at < 3 ? n - at : 3;
                uint32_t bits = (uint32_t)p[at] << 16;
                bits |= have > 1 ? (uint32_t)p[at + 1] << 8 : 0;
                bits |= have > 2 ? p[at + 2] : 0u;
                for (unsigned i = 0; i < 4; i++)
                        (void)putc_unlocked(i <= have ? digits[bits >> (18 - 6 * i) & 63] : '=', j->to);
        }
        (void)putc_unlocked('"', j->to);
}

/* ----------------------------------------------------------------- members */

#define MEMBER(kind, type)                                                                                             \
        void json_member_##kind(struct json_out *j, const char *key, type value)                                       \
        {                                                                                                              \
                json_key(j, key);                                                                                      \
                json_##kind(j, value);                                                                                 \
        }

MEMBER(open, char)
MEMBER(bool, bool)
MEMBER(u64, uint64_t)
MEMBER(i64, int64_t)
MEMBER(u64_string, uint64_t)
MEMBER(seconds, uint64_t)
MEMBER(double, double)
MEMBER(short, double)
MEMBER(text, const char *)

void json_known_u64(struct json_out *j, const char *key, bool known, uint64_t value)
{
        if (known)
                json_member_u64(j, key, value);
}

void json_known_double(struct json_out *j, const char *key, bool known, double value)
{
        if (known)
                json_member_double(j, key, value);
}

void json_known_text(struct json_out *j, const char *key, const char *text)
{
        if (text)
                json_member_text(j, key, text);
}

void json_known_wall(struct json_out *j, const char *key, uint64_t wall_ns)
{
        char text[HW_NUMBER_MAX];

        if (wall_ns != UINT64_MAX)
                json_member_text(j, key, hw_time_text(text, sizeof(text), wall_ns));
}
