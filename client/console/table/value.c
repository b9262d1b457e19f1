/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - values as text for people, as CSV and as JSON. */
#include "client/console/table/value.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "client/cli/json_out.h"

struct value value_number(bool known, double number)
{
        if (!known || !isfinite(number))
                return no_value;
        return (struct value){ .is = VALUE_NUMBER, .number = number };
}

struct value value_text(const char *text)
{
        if (!text || !*text)
                return no_value;
        return (struct value){ .is = VALUE_TEXT, .text = text };
}

char *value_show(char *out, size_t size, enum unit unit, struct value v)
{
        if (v.is == VALUE_NONE)
                (void)snprintf(out, size, "%s", UNKNOWN_TEXT);
        else if (v.is == VALUE_TEXT)
                (void)safe_text(out, size, v.text);
        else
                (void)unit_text(out, size, unit, v.number);
        return out;
}

static bool is_whole(double n)
{
        return fabs(n) < 9e15 && n == floor(n); /* NOLINT: exact on purpose */
}

static void put_number(FILE *to, double n)
{
        if (is_whole(n))
                (void)fprintf(to, "%.0f", n);
        else
                (void)fprintf(to, "%.9g", n);
}

void value_csv(FILE *to, struct value v)
{
        char safe[4096];

        if (v.is == VALUE_NUMBER)
                put_number(to, v.number);
        if (v.is != VALUE_TEXT)
                return;
        (void)safe_text(safe, sizeof(safe), v.text);
        if (!strpbrk(safe, ",\"\r\n")) {
                (void)fputs(safe, to);
                return;
        }
        (void)fputc('"', to);
        for (const char *p = safe; *p; p++)
                (void)fprintf(to, *p == '"' ? "\"\"" : "%c", *p);
        (void)fputc('"', to);
}

void value_json(FILE *to, struct value v)
{
        if (v.is == VALUE_NONE)
                (void)fputs("null", to);
        else if (v.is == VALUE_TEXT)
                json_quote(to, v.text, strlen(v.text));
        else
                put_number(to, v.number);
}

int value_compare(struct value a, struct value b)
{
        int order;

        if (a.is != b.is)
                return a.is == VALUE_NONE ? -1 : b.is == VALUE_NONE ? 1 : a.is < b.is ? -1 : 1;
        if (a.is == VALUE_NUMBER)
                return a.number < b.number ? -1 : a.number > b.number;
        if (a.is == VALUE_NONE)
                return 0;
        order = strcasecmp(a.text, b.text);
        return order ? order : strcmp(a.text, b.text);
}
