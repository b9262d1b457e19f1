/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: dimensional analysis with two base dimensions and small powers. The
 * three sorts of plain numbers exist for people: a share is shown with %, and
 * comparing one with a count is always a mistake.
 */
#include "daemon/judge/rules/type.h"

#include <math.h>
#include <string.h>

#include "proto/base/text_out.h"
#include "heapwatch/text.h"

#define POWER_MAX 4

static bool has_dimension(struct type t)
{
        return t.bytes != 0 || t.seconds != 0;
}

bool type_join(struct type a, struct type b, struct type *ret)
{
        if (a.boolean || b.boolean || a.bytes != b.bytes || a.seconds != b.seconds)
                return false;
        if (!has_dimension(a) && a.sort != b.sort && a.sort != SORT_PLAIN && b.sort != SORT_PLAIN)
                return false;
        *ret = a.sort == SORT_PLAIN ? b : a;
        return true;
}

static bool make_type(int bytes, int seconds, enum type_sort sort, struct type *ret)
{
        if (bytes < -POWER_MAX || bytes > POWER_MAX || seconds < -POWER_MAX || seconds > POWER_MAX)
                return false;
        *ret = (struct type){ .bytes = (int8_t)bytes, .seconds = (int8_t)seconds };
        if (!has_dimension(*ret))
                ret->sort = sort;
        return true;
}

bool type_multiply(struct type a, struct type b, struct type *ret)
{
        enum type_sort sort = SORT_PLAIN;

        if (!has_dimension(a) && !has_dimension(b)) {
                if (a.sort == SORT_COUNT || b.sort == SORT_COUNT)
                        sort = SORT_COUNT;
                else if (a.sort == SORT_SHARE || b.sort == SORT_SHARE)
                        sort = SORT_SHARE;
        }
        return make_type(a.bytes + b.bytes, a.seconds + b.seconds, sort, ret);
}

bool type_divide(struct type a, struct type b, struct type *ret)
{
        enum type_sort sort = SORT_SHARE;

        if (!has_dimension(a) && !has_dimension(b)) {
                if (b.sort == SORT_PLAIN)
                        sort = a.sort;
                else if (a.sort == SORT_PLAIN)
                        sort = SORT_PLAIN;
        }
        return make_type(a.bytes - b.bytes, a.seconds - b.seconds, sort, ret);
}

/* ------------------------------------------------------------------- words */

static bool is_type(struct type t, struct type other)
{
        return t.bytes == other.bytes && t.seconds == other.seconds;
}

static void put_power(struct text_out *o, const char *unit, int power)
{
        if (power == 0)
                return;
        if (o->used)
                text_put(o, " ");
        text_put(o, unit);
        if (power != 1) {
                text_put(o, power < 0 ? "^-" : "^");
                text_put_u64(o, (uint64_t)(power < 0 ? -power : power));
        }
}

const char *type_name(struct type t, char name[TYPE_NAME_MAX])
{
        static const char *const sorts[] = { "a plain number", "a share", "a count" };
        struct text_out o;

        if (t.boolean)
                return "true or false";
        if (!has_dimension(t))
                return sorts[t.sort];
        if (is_type(t, TYPE_BYTES))
                return "bytes";
        if (is_type(t, TYPE_SECONDS))
                return "seconds";
        if (is_type(t, TYPE_BYTES_PER_SECOND))
                return "bytes per second";
        if (is_type(t, (struct type){ .seconds = -1 }))
                return "a number per second";
        text_out_init(&o, name, TYPE_NAME_MAX);
        put_power(&o, "bytes", t.bytes);
        put_power(&o, "seconds", t.seconds);
        return name;
}

/* "1,234" or "3.25" */
static char *plain_text(double value, char out[TYPE_VALUE_MAX])
{
        char number[DECIMAL_MAX];

        if (value >= 0 && value < 1e15 && value == floor(value))
                return hw_count_text(out, TYPE_VALUE_MAX, (uint64_t)value);
        if (fabs(value) < 1e15)
                return text_join(out, TYPE_VALUE_MAX, decimal_fixed(number, value, fabs(value) < 0.1 ? 3 : 2), NULL);
        return text_join(out, TYPE_VALUE_MAX, decimal_shortest(number, value), NULL);
}

/* A frequency, per the shortest period that gives 1 or more. */
static char *frequency_text(double per_second, char out[TYPE_VALUE_MAX])
{
        static const struct {
                const char *name;
                double seconds;
        } periods[] = { { "/s", 1 }, { "/min", 60 }, { "/h", 3600 }, { "/d", 86400 } };
        char number[TYPE_VALUE_MAX];
        size_t i = 0;

        while (per_second != 0 && i < 3 && fabs(per_second) * periods[i].seconds < 1)
                i++;
        return text_join(out, TYPE_VALUE_MAX, plain_text(per_second * periods[i].seconds, number), periods[i].name,
                         NULL);
}

char *type_value_text(struct type t, double value, char out[TYPE_VALUE_MAX])
{
        char name[TYPE_NAME_MAX], number[TYPE_VALUE_MAX];

        if (t.boolean)
                return text_join(out, TYPE_VALUE_MAX, value != 0 ? "true" : "false", NULL);
        if (isnan(value))
                return text_join(out, TYPE_VALUE_MAX, "unknown", NULL);
        if (isinf(value))
                return text_join(out, TYPE_VALUE_MAX, is_type(t, TYPE_SECONDS) && value > 0 ? "never" : "infinite",
                                 NULL);
        if (is_type(t, TYPE_BYTES))
                return hw_bytes_text(out, TYPE_VALUE_MAX, value);
        if (is_type(t, TYPE_SECONDS))
                return hw_duration_text(out, TYPE_VALUE_MAX, value * 1e9);
        if (is_type(t, TYPE_BYTES_PER_SECOND))
                return hw_rate_text(out, TYPE_VALUE_MAX, value);
        if (is_type(t, (struct type){ .seconds = -1 }))
                return frequency_text(value, out);
        if (!has_dimension(t))
                return t.sort == SORT_SHARE ? hw_share_text(out, TYPE_VALUE_MAX, value) : plain_text(value, out);
        return text_join(out, TYPE_VALUE_MAX, plain_text(value, number), " ", type_name(t, name), NULL);
}
