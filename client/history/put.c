/* SPDX-License-Identifier: BSD-3-Clause */
/* put.c - numbers, texts and messages as JSON. */
#include "client/history/put.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/json_out.h"
#include "proto/base/decimal.h"

void put_text(FILE *to, const char *text)
{
        json_quote(to, text, strlen(text));
}

void put_u64(FILE *to, uint64_t value)
{
        (void)putc('"', to);
        json_digits(to, value);
        (void)putc('"', to);
}

void put_number(FILE *to, double value)
{
        char number[DECIMAL_MAX];

        if (value >= 0 && value < 9e15 && value == (double)(uint64_t)value)
                json_digits(to, (uint64_t)value);
        else
                (void)fputs(isfinite(value) ? decimal_shortest(number, value) : "null", to);
}

void put_about(FILE *to, double value)
{
        double unit = fabs(value) < 1e6 ? 1000 : 1;

        put_number(to, fabs(value) < 9e15 ? nearbyint(value * unit) / unit : value);
}

void put_short(FILE *to, double value)
{
        if (!isfinite(value) || (fabs(value) < 9e15 && value == nearbyint(value)))
                put_number(to, value);
        else
                (void)fprintf(to, "%.9g", value); /* LC_NUMERIC is never set: a decimal point */
}

void put_seconds(FILE *to, uint64_t ns)
{
        unsigned digits = 9, part = (unsigned)(ns % 1000000000);

        json_digits(to, ns / 1000000000);
        if (!part)
                return;
        for (; part % 10 == 0; digits--)
                part /= 10;
        (void)fprintf(to, ".%0*u", (int)digits, part);
}

void put_message(FILE *to, const ProtobufCMessage *m)
{
        char *text = hw_json(m, false);

        (void)fputs(text ? text : "\"?", to); /* out of memory: no valid JSON, so that nobody takes it for whole */
        free(text);
}

void put_tagged(FILE *to, size_t daemon, const Hw__Update *update)
{
        (void)fprintf(to, "{\"daemon\":%zu,\"update\":", daemon);
        put_message(to, &update->base);
        (void)fputc('}', to);
}
