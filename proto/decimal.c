/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: snprintf does the rounding; whatever the locale uses as its decimal
 * sign (one or more bytes that are neither digit, sign nor exponent) becomes a
 * point. The shortest form tries 15, 16 and 17 digits: 17 always suffice.
 */
#include "decimal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *with_point(char *text)
{
        char *to = text;
        bool inside = false;

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

char *decimal_shortest(char out[DECIMAL_MAX], double value)
{
        for (int digits = 15; digits <= 17; digits++) {
                (void)snprintf(out, DECIMAL_MAX, "%.*g", digits, value);
                if (!(strtod(out, NULL) < value) && !(strtod(out, NULL) > value))
                        break;
        }
        return with_point(out);
}
