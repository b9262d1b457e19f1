/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the notation of promtool with units: items between spaces, each one
 * value (5MiB), a row (5MiB+1MiBx10: eleven values, rising), the same repeated
 * (5MiBx3: four), or nothing (_, _x5).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/unit.h"
#include "rules_test.h"

static bool push(struct test_series *s, double value)
{
        double *grown = s->n < TEST_VALUES_MAX ? realloc(s->values, (s->n + 1) * sizeof(*grown)) : NULL;

        if (!grown)
                return false;
        s->values = grown;
        s->values[s->n++] = value < 0 ? 0 : value;
        return true;
}

/* "1.5MiB" to bytes, "20ms" to ns. Moves *at behind it. */
static bool amount(const char **at, double unit_ns, double *ret)
{
        const char *name;
        char *end;
        size_t size;

        if (**at < '0' || **at > '9')
                return false;
        *ret = strtod(*at, &end);
        name = end;
        size = strcspn(name, "+- x");
        *at = name + size;
        if (size == 0)
                return true;
        const struct unit *u = unit_find(name, size);
        if (!u)
                return false;
        *ret *= u->factor;
        if (u->type.seconds == 1)
                *ret *= unit_ns;
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

static bool item(const char **at, struct test_series *s, double unit_ns)
{
        double value = (double)NAN, step = 0;
        unsigned long n;

        if (**at == '_') {
                ++*at;
        } else {
                if (!amount(at, unit_ns, &value))
                        return false;
                if (**at == '+' || **at == '-') {
                        double sign = *(*at)++ == '-' ? -1 : 1;
                        if (!amount(at, unit_ns, &step) || **at != 'x')
                                return false;
                        step *= sign;
                }
        }
        if (!times(at, &n) || (**at != ' ' && **at != '\0'))
                return false;
        for (unsigned long i = 0; i <= n; i++)
                if (!push(s, value + step * (double)i))
                        return false;
        return true;
}

bool rules_test_values(const char *text, struct test_series *s, double unit_ns, char *error, size_t error_size)
{
        const char *at = text;

        for (;;) {
                at += strspn(at, " \n");
                if (!*at)
                        return true;
                if (item(&at, s, unit_ns))
                        continue;
                snprintf(error, error_size, "at '%.20s': expected values such as 5MiB, 5MiB+1MiBx10, 5MiBx3 or _x5, "
                         "at most %u of them", at, TEST_VALUES_MAX);
                return false;
        }
}
