/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - values as text for people, as CSV and as JSON. */
#include "client/console/table/value.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "client/console/draw/widgets.h"
#include "client/cli/json_out.h"
#include "heapwatch/text.h"

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

/* "+1.23 MiB", "-4 KiB", "0". */
static void show_signed(char *out, size_t size, double number, char *(*text)(char *, size_t, double))
{
        char magnitude[HW_NUMBER_MAX];

        (void)text(magnitude, sizeof(magnitude), fabs(number));
        (void)snprintf(out, size, "%s%s", number > 0 ? "+" : number < 0 ? "-" : "", magnitude);
}

static void add(char *out, size_t size, const char *suffix)
{
        size_t n = strlen(out);

        (void)snprintf(out + n, size - n, "%s", suffix);
}

static void show_number(char *out, size_t size, enum unit unit, double n)
{
        switch (unit) {
        case UNIT_BYTES:
                (void)hw_bytes_text(out, size, n);
                break;
        case UNIT_CHANGE:
                show_signed(out, size, n, hw_bytes_text);
                break;
        case UNIT_RATE:
                (void)hw_rate_text(out, size, n);
                break;
        case UNIT_SLOPE:
                show_signed(out, size, 60 * n, hw_bytes_text);
                add(out, size, "/min");
                break;
        case UNIT_INTEGRAL:
                (void)hw_bytes_text(out, size, n);
                add(out, size, "·s");
                break;
        case UNIT_NS:
                (void)hw_duration_text(out, size, n);
                break;
        case UNIT_SHARE:
                (void)hw_share_text(out, size, n);
                break;
        case UNIT_COUNT:
                (void)hw_count_text(out, size, n < 0 ? 0 : n >= 1.8e19 ? UINT64_MAX : (uint64_t)n);
                break;
        default:
                (void)snprintf(out, size, "%.2f", n);
                break;
        }
}

char *value_show(char *out, size_t size, enum unit unit, struct value v)
{
        if (v.is == VALUE_NONE)
                (void)snprintf(out, size, "%s", UNKNOWN_TEXT);
        else if (v.is == VALUE_TEXT)
                (void)safe_text(out, size, v.text);
        else
                show_number(out, size, unit, v.number);
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
