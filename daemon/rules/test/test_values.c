/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the notation of promtool with units: items separated by spaces, each a value (5MiB), a sequence
 * (5MiB+1MiBx10: eleven rising values), a repetition (5MiBx3: four), or no sample (_, _x5).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/rules/unit.h"
#include "daemon/rules/test/rule_test.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/time.h"

#define DIGITS_MAX 32

static bool push(struct test_series *s, double value)
{
        if (s->n >= TEST_VALUES_MAX || !ARRAY_RESERVE_NEXT(s->values, s->n))
                return false;
        s->values[s->n++] = value < 0 ? 0 : value;
        return true;
}

/* "1.5MiB" to bytes, "20ms" to ns; bytes need no unit, nor does 0. Moves *at past it. */
static bool amount(const char **at, struct type type, double *ret)
{
        size_t size = strspn(*at, "0123456789.");
        char digits[DIGITS_MAX];
        const char *unit = *at + size, *end;

        if (size == 0 || size >= sizeof(digits))
                return false;
        memcpy(digits, *at, size); /* a copy: strtod would read 0x20 as 32 */
        digits[size] = '\0';
        *ret = strtod(digits, (char **)&end);
        if (*end)
                return false;
        size = strcspn(unit, "+- x\n");
        *at = unit + size;
        if (size == 0)
                return type.bytes == 1 || *ret == 0;
        const struct rule_unit *u = unit_find(unit, size);
        if (!u || u->type.boolean || u->type.bytes != type.bytes || u->type.seconds != type.seconds)
                return false;
        *ret *= type.seconds ? u->factor * (double)NS_PER_S : u->factor;
        return true;
}

static bool times(const char **at, unsigned long *ret)
{
        char *end;

        *ret = 0;
        if (**at != 'x')
                return true;
        *ret = strtoul(*at + 1, &end, 10);
        if (end == *at + 1 || *ret > TEST_VALUES_MAX)
                return false;
        *at = end;
        return true;
}

static bool item(const char **at, struct test_series *s, struct type type)
{
        double value = (double)NAN, step = 0;
        unsigned long n;

        if (**at == '_') {
                ++*at;
        } else {
                if (!amount(at, type, &value))
                        return false;
                if (**at == '+' || **at == '-') {
                        double sign = *(*at)++ == '-' ? -1 : 1;
                        if (!amount(at, type, &step) || **at != 'x')
                                return false;
                        step *= sign;
                }
        }
        if (!times(at, &n) || !strchr(" \n", **at))
                return false;
        for (unsigned long i = 0; i <= n; i++)
                if (!push(s, value + step * (double)i))
                        return false;
        return true;
}

bool rules_test_values(const char *text, struct test_series *s, struct type type, struct error *error)
{
        const char *at = text;

        for (;;) {
                at += strspn(at, " \n");
                if (!*at)
                        return true;
                const char *start = at;
                if (item(&at, s, type))
                        continue;
                return error_set(error, "at '%.20s': expected values such as %s or _x5, at most %u of them", start,
                                 type.seconds ? "20ms, 20ms+1msx10, 20msx3" : "5MiB, 5MiB+1MiBx10, 5MiBx3",
                                 TEST_VALUES_MAX);
        }
}
