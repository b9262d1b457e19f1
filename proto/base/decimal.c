/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: snprintf does the rounding; whatever the locale uses as its decimal
 * sign (one or more bytes that are neither digit, sign nor exponent) becomes a
 * point. The shortest form tries 15, 16 and 17 digits: 17 always suffice.
 */
#include "proto/base/text_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *with_point(char *text)
{
        char *to = text;
        bool inside = false;

        if (strchr(text, '.'))
                return text;
        for (const char *from = text; *from; from++) {
                bool plain = strchr("0123456789+-eE", *from);

                if (plain)
                        *to++ = *from;
                else if (!inside)
                        *to++ = '.';
                inside = !plain;
        }
        *to = '\0';
        return text;
}

char *decimal_fixed(char out[DECIMAL_MAX], double value, int decimals)
{
        (void)snprintf(out, DECIMAL_MAX, "%.*f", decimals, value); /* fits by the header's bounds */
        return with_point(out);
}

/* Whole numbers that %.15g writes without an exponent; not -0. */
static bool is_whole(double value)
{
        return value > -1e15 && value < 1e15 && !(value < (double)(int64_t)value) &&
               !(value > (double)(int64_t)value) && ((int64_t)value != 0 || !signbit(value));
}

char *decimal_shortest(char out[DECIMAL_MAX], double value)
{
        if (is_whole(value)) {
                (void)snprintf(out, DECIMAL_MAX, "%" PRId64, (int64_t)value);
                return out;
        }
        for (int digits = 15; digits <= 17; digits++) {
                (void)snprintf(out, DECIMAL_MAX, "%.*g", digits, value);
                double back = digits < 17 ? strtod(out, NULL) : value;
                if (!(back < value) && !(back > value))
                        break;
        }
        return with_point(out);
}

char *decimal_short(char out[DECIMAL_MAX], double value)
{
        double whole = nearbyint(value);

        if (whole > -9e15 && whole < 9e15 && !(whole < value) && !(whole > value))
                (void)snprintf(out, DECIMAL_MAX, "%" PRId64, (int64_t)whole);
        else
                (void)snprintf(out, DECIMAL_MAX, "%.9g", value);
        return with_point(out);
}
