/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - values as text for people, as CSV and as JSON. */
#include "client/console/table/value.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "proto/base/csv.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"

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

/* -------------------------------------------------------------------- columns */

static enum unit unit_of_fact(enum fact id)
{
        static const enum unit units[] = {
                [FACT_COUNT] = UNIT_COUNT, [FACT_BYTES] = UNIT_BYTES, [FACT_NS] = UNIT_NS,
                [FACT_SHARE] = UNIT_SHARE, [FACT_RATE] = UNIT_RATE,   [FACT_WALL] = UNIT_NS
        };

        return units[fact_rows[id].unit];
}

struct value column_value(const struct column *c, const struct scene *s, const void *row)
{
        return c->value ? c->value(s, row) : value_number(true, facts_get(row, c->fact));
}

const char *column_name(const struct column *c)
{
        return c->name ? c->name : fact_rows[c->fact].name;
}

enum unit column_unit(const struct column *c)
{
        return c->fact ? unit_of_fact(c->fact) : c->unit;
}

/* A fact's help is a sentence: "Live data." becomes "live data", "RSS of it." keeps its capitals. */
char *column_help(char *out, size_t size, const struct column *c)
{
        const char *help = c->help ? c->help : c->fact ? fact_rows[c->fact].help : "";

        (void)snprintf(out, size, "%s", help);
        if (c->help || !*out)
                return out;
        if (islower((unsigned char)out[1]))
                out[0] = (char)tolower((unsigned char)out[0]);
        out[strlen(out) - 1] = '\0';
        return out;
}

/* ---------------------------------------------------------------------- values */

char *value_show(char *out, size_t size, enum unit unit, struct value v)
{
        if (v.is == VALUE_NONE)
                (void)snprintf(out, size, "%s", UNKNOWN_TEXT);
        else if (v.is == VALUE_TEXT)
                (void)safe_text(out, size, v.text);
        else if (unit == UNIT_WHEN && v.start_wall_ns)
                (void)time_of_day(out, size, v.start_wall_ns + (uint64_t)v.number, v.now_wall_ns);
        else
                (void)unit_text(out, size, unit, v.number);
        return out;
}

char *value_show_rate(char *out, size_t size, enum unit unit, struct rate_unit in, struct value v)
{
        size_t mark = v.provisional && size > 1;

        if (v.is != VALUE_NUMBER)
                return value_show(out, size, unit, v);
        *out = '~';
        (void)rate_in_unit(out + mark, size - mark, unit, in, v.number);
        return out;
}

void value_csv(FILE *to, struct value v)
{
        char number[DECIMAL_MAX];

        if (v.is == VALUE_NUMBER && !v.provisional)
                (void)fputs(decimal_short(number, v.number), to);
        if (v.is == VALUE_TEXT && !csv_print(to, v.text ? v.text : ""))
                (void)fputc('?', to); /* no memory */
}

void value_json(struct json_out *j, struct value v)
{
        if (v.is == VALUE_NONE || v.provisional)
                json_none(j);
        else if (v.is == VALUE_TEXT)
                json_text(j, v.text);
        else
                json_short(j, v.number);
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
        order = name_order(a.text, b.text, true);
        return order ? order : strcmp(a.text, b.text);
}
