/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: three significant digits, the unit chosen after rounding so that
 * 1023.9 KiB reads "1.00 MiB". snprintf's decimal sign follows the locale;
 * decimal_fixed() puts a point in its place.
 * A number that is not finite reads "?".
 */
#include "heapwatch/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

/* Decimals that give three significant digits to a value in 0..1023. */
static int decimals_for(double value)
{
        return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

static char *unknown_text(char *out, size_t size)
{
        (void)snprintf(out, size, "?"); /* a buffer too small for it is the caller's choice */
        return out;
}

static char *number_with_unit(char *out, size_t size, const char *sign, double value, int decimals, const char *unit)
{
        char number[DECIMAL_MAX];

        (void)snprintf(out, size, "%s%s %s", sign, decimal_fixed(number, value, decimals), unit);
        return out;
}

char *hw_bytes_text(char *out, size_t size, double bytes)
{
        static const char *const units[7] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
        const char *sign = bytes < 0 ? "-" : "";
        double value = fabs(bytes);
        size_t unit = 0;

        if (!isfinite(bytes))
                return unknown_text(out, size);
        while (unit < 6 && value >= 1023.5) {
                value /= 1024;
                unit++;
        }
        if (unit == 0 && value < 0.5)
                sign = "";
        if (value >= 1e6)
                value = 999999; /* beyond 10^24: nothing has this much memory */
        return number_with_unit(out, size, sign, value, unit ? decimals_for(value) : 0, units[unit]);
}

char *hw_duration_text(char *out, size_t size, double ns)
{
        static const char *const units[4] = { "ns", "us", "ms", "s" };
        const char *sign = ns <= -0.5 ? "-" : "";
        double value = fabs(ns);
        size_t unit = 0;

        if (!isfinite(ns))
                return unknown_text(out, size);
        if (value >= 59.95e9) {
                /* From a minute on: two units, the smaller one rounded. */
                double seconds = value < 1e24 ? value / 1e9 : 1e15;
                uint64_t s = (uint64_t)(seconds + 0.5), m = (uint64_t)(seconds / 60 + 0.5);
                uint64_t h = (uint64_t)(seconds / 3600 + 0.5);

                if (s < 3600)
                        (void)snprintf(out, size, "%s%" PRIu64 "m %02" PRIu64 "s", sign, s / 60, s % 60);
                else if (m < 24 * 60)
                        (void)snprintf(out, size, "%s%" PRIu64 "h %02" PRIu64 "m", sign, m / 60, m % 60);
                else
                        (void)snprintf(out, size, "%s%" PRIu64 "d %02" PRIu64 "h", sign, h / 24, h % 24);
                return out;
        }
        if (value < 0.5)
                return number_with_unit(out, size, "", 0, 0, "s"); /* "0 s", not "0.00 s" */
        while (unit < 3 && value >= 999.5) {
                value /= 1000;
                unit++;
        }
        return number_with_unit(out, size, sign, value, unit ? decimals_for(value) : 0, units[unit]);
}

char *hw_share_text(char *out, size_t size, double fraction)
{
        double percent = fraction * 100;

        if (!isfinite(percent) || fabs(percent) >= 1e9)
                return unknown_text(out, size);
        if (percent > 0 && percent < 0.05) { /* not "0.0 %": it is there */
                (void)snprintf(out, size, "<0.1 %%");
                return out;
        }
        return number_with_unit(out, size, percent <= -0.05 ? "-" : "", fabs(percent), 1, "%");
}

char *hw_count_text(char *out, size_t size, uint64_t count)
{
        char digits[24], grouped[HW_NUMBER_MAX];
        int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
        size_t used = 0;

        for (int i = 0; i < n; i++) {
                if (i > 0 && (n - i) % 3 == 0)
                        grouped[used++] = ',';
                grouped[used++] = digits[i];
        }
        grouped[used] = '\0';
        (void)snprintf(out, size, "%s", grouped);
        return out;
}

char *hw_time_text(char *out, size_t size, uint64_t wall_ns)
{
        time_t seconds = (time_t)(wall_ns / 1000000000u);
        unsigned ms = (unsigned)(wall_ns / 1000000u % 1000u);
        struct tm tm;

        if (!gmtime_r(&seconds, &tm))
                return unknown_text(out, size);
        (void)snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                       tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
        return out;
}

/* How one character (or one bad byte) is written; returns the length, at most 10. */
static size_t escape_code(char *out, size_t size, const char *text, size_t length, uint32_t code)
{
        int n;

        if (length == 0)
                n = snprintf(out, size, "\\x%02X", (unsigned)(unsigned char)*text);
        else if (code == '\n' || code == '\t')
                n = snprintf(out, size, "\\%c", code == '\n' ? 'n' : 't');
        else if (code < 0x80)
                n = snprintf(out, size, "\\x%02X", (unsigned)code);
        else
                n = snprintf(out, size, "\\u{%04X}", (unsigned)code);
        return n > 0 ? (size_t)n : 0;
}

size_t hw_terminal_text(char *out, size_t size, const char *text)
{
        size_t used = 0, n = strlen(text);
        uint32_t code = 0;

        if (size == 0)
                return 0;
        for (size_t pos = 0; pos < n;) {
                size_t length = utf8_decode(text + pos, n - pos, &code), need = length;
                char escaped[16];
                const char *from = text + pos;

                if (length == 0 || utf8_is_control(code)) {
                        need = escape_code(escaped, sizeof(escaped), text + pos, length, code);
                        from = escaped;
                }
                if (need > size - 1 - used)
                        break;
                memcpy(out + used, from, need);
                used += need;
                pos += length ? length : 1;
        }
        out[used] = '\0';
        return used;
}
