/* SPDX-License-Identifier: BSD-3-Clause */
/* json_out.c - DESIGN: straight to the stream, nothing is built in memory; runs of plain characters go in one piece. */
#include "client/cli/json_out.h"

#include <math.h>
#include <string.h>

#include "proto/base/decimal.h"
#include "proto/base/utf8.h"

static void separate(struct json_out *j)
{
        if (j->comma)
                (void)putc_unlocked(',', j->to);
        j->comma = true;
}

void json_open(struct json_out *j, char bracket)
{
        separate(j);
        (void)putc_unlocked(bracket, j->to);
        j->comma = false;
}

void json_close(struct json_out *j, char bracket)
{
        (void)putc_unlocked(bracket, j->to);
        j->comma = true;
}

void json_key(struct json_out *j, const char *key)
{
        separate(j);
        (void)putc_unlocked('"', j->to);
        (void)fputs(key, j->to);
        (void)fputs("\":", j->to);
        j->comma = false;
}

void json_digits(FILE *to, uint64_t value)
{
        char digits[20];
        size_t at = sizeof(digits);

        do
                digits[--at] = (char)('0' + value % 10);
        while (value /= 10);
        (void)fwrite(digits + at, 1, sizeof(digits) - at, to);
}

void json_u64(struct json_out *j, uint64_t value)
{
        separate(j);
        json_digits(j->to, value);
}

void json_double(struct json_out *j, double value)
{
        char number[DECIMAL_MAX];

        separate(j);
        (void)fputs(isfinite(value) ? decimal_shortest(number, value) : "null", j->to);
}

void json_bool(struct json_out *j, bool value)
{
        separate(j);
        (void)fputs(value ? "true" : "false", j->to);
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
        const char *text = n ? bytes : ""; /* no bytes may come as NULL */
        size_t plain = 0, at = 0;          /* text[plain..at) needs no change */

        (void)putc_unlocked('"', to);
        while (at < n) {
                uint32_t code = 0;
                size_t length = utf8_decode(text + at, n - at, &code);
                if (length && !utf8_is_control(code) && code != '"' && code != '\\') {
                        at += length;
                        continue;
                }
                (void)fwrite(text + plain, 1, at - plain, to);
                if (length)
                        put_escape(to, code);
                else
                        (void)fputs("\xEF\xBF\xBD", to);
                at += length ? length : 1;
                plain = at;
        }
        (void)fwrite(text + plain, 1, at - plain, to);
        (void)putc_unlocked('"', to);
}

void json_text_bytes(struct json_out *j, const void *bytes, size_t n)
{
        separate(j);
        json_quote(j->to, bytes, n);
}

void json_text(struct json_out *j, const char *text)
{
        if (text) {
                json_text_bytes(j, text, strlen(text));
                return;
        }
        separate(j);
        (void)fputs("null", j->to);
}

void json_base64(struct json_out *j, const void *bytes, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const uint8_t *p = bytes;

        separate(j);
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
