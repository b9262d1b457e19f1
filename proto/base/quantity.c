/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes and durations as people type them.
 *
 * DESIGN: digits are parsed here, so no locale, no sign, no hexadecimal, no
 * "nan": what is not [0-9]+(.[0-9]+)?[ ]?UNIT to its last byte is refused, and so is
 * what does not fit into 64 bits. Whole parts are exact; a fraction is rounded
 * to the nearest unit.
 */
#include <string.h>

#include "proto/base/ckd.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"

struct number {
        uint64_t whole;
        double fraction;  /* 0 <= fraction < 1 */
        const char *rest; /* what follows the digits */
};

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool read_number(const char *text, struct number *ret)
{
        struct number n = { .rest = text };
        double scale = 1;

        if (!digits_read(&n.rest, &n.whole))
                return false;
        if (*n.rest == '.') {
                n.rest++;
                if (!is_digit(*n.rest))
                        return false;
                double digits = 0;
                for (; is_digit(*n.rest); n.rest++) {
                        if (scale >= 1e15) /* further digits are below half a unit */
                                continue;
                        digits = digits * 10 + (*n.rest - '0');
                        scale *= 10;
                }
                n.fraction = digits / scale;
        }
        if (*n.rest == ' ')
                n.rest++;
        *ret = n;
        return true;
}

static bool multiply(const struct number *n, uint64_t unit, uint64_t *ret)
{
        uint64_t value, part = (uint64_t)(n->fraction * (double)unit + 0.5);

        if (ckd_mul(&value, n->whole, unit) || ckd_add(&value, value, part))
                return false;
        *ret = value;
        return true;
}

bool hw_parse_bytes(const char *text, uint64_t *ret_bytes)
{
        static const char letters[] = "kmgtpe";
        struct number n;
        unsigned shift = 0;

        if (!read_number(text, &n))
                return false;
        const char *rest = n.rest;
        const char *letter = *rest ? strchr(letters, *rest | 0x20) : NULL;
        if (letter) {
                shift = 10u * (unsigned)(letter - letters + 1);
                rest++;
                if (*rest == 'i' && (rest[1] == 'B' || rest[1] == 'b'))
                        rest++;
        }
        if (*rest == 'B' || *rest == 'b')
                rest++;
        if (*rest || (rest == n.rest && rest[-1] == ' '))
                return false;
        return multiply(&n, (uint64_t)1 << shift, ret_bytes);
}

bool hw_parse_duration(const char *text, uint64_t *ret_ns)
{
        static const struct {
                const char *name;
                uint64_t ns;
        } units[] = {
                { "ns", 1 },          { "us", 1000 },         { "ms", 1000000 },      { "s", 1000000000 },
                { "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 }, { "d", 86400000000000 },
        };
        struct number n;

        if (!read_number(text, &n))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
                if (!strcmp(n.rest, units[i].name))
                        return multiply(&n, units[i].ns, ret_ns);
        return false;
}
