/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define BAND "band:"

/* -------------------------------------------------------------------- parsing */

/* "5%", or a number in the quantity's unit. */
static bool parse_most(struct bound *b, const char *text, enum quantity_unit unit)
{
        uint64_t whole;
        char *end;
        double number = strtod(text, &end);

        if (end != text && !strcmp(end, "%") && number >= 0 && isfinite(number)) {
                b->relative = true;
                b->most = number / 100;
                return true;
        }
        if (unit == UNIT_NS ? hw_parse_duration(text, &whole) : unit != UNIT_SHARE && hw_parse_bytes(text, &whole)) {
                b->most = (double)whole;
                return true;
        }
        return false;
}

/* "mean(band:LABEL)", "peak(band:LABEL)" */
static bool parse_band(struct bound *b, const char *name, size_t n)
{
        static const char *const heads[] = { "mean(" BAND, "peak(" BAND };

        for (size_t i = 0; i < 2; i++) {
                size_t head = strlen(heads[i]);
                if (n <= head + 1 || strncmp(name, heads[i], head) != 0 || name[n - 1] != ')')
                        continue;
                b->peak = i == 1;
                b->band = strndup(name + head, n - head - 1);
                return b->band;
        }
        return false;
}

static bool parse_one(struct bound *b, struct error *error)
{
        const char *space = strrchr(b->text, ' ');
        size_t n = space ? (size_t)(space - b->text) : 0;

        while (n > 0 && b->text[n - 1] == ' ')
                n--;
        if (n == 0)
                return error_set(error, "'%s': expected a quantity and a bound, such as peak(live) 5%%", b->text);
        b->quantity = quantity_find(b->text, n);
        if (!b->quantity && !parse_band(b, b->text, n))
                return error_set(error,
                                 "'%.*s' is not a quantity; expected one of those in the help, or mean(band:LABEL)",
                                 (int)n, b->text);
        if (!parse_most(b, space + 1, b->quantity ? b->quantity->unit : UNIT_BYTES))
                return error_set(
                        error, "'%s' is not a bound; expected a share such as 5%%, or an amount such as 20MiB, 5ms, 3",
                        space + 1);
        return true;
}

static bool add(struct bounds *list, const char *text, size_t n, struct error *error)
{
        if (!ARRAY_RESERVE_NEXT(list->items, list->n))
                return error_set(error, "out of memory");
        while (n > 0 && *text == ' ') {
                text++;
                n--;
        }
        while (n > 0 && text[n - 1] == ' ')
                n--;
        struct bound *b = &list->items[list->n++];
        *b = (struct bound){ .text = strndup(text, n) };
        return b->text ? parse_one(b, error) : error_set(error, "out of memory");
}

bool bounds_parse(struct bounds *list, const char *text, struct error *error)
{
        const char *begin = text;
        int depth = 0; /* a comma in brackets belongs to a label */

        for (const char *p = text;; p++) {
                depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
                if (*p && (*p != ',' || depth > 0))
                        continue;
                if (!add(list, begin, (size_t)(p - begin), error))
                        return false;
                if (!*p)
                        return true;
                begin = p + 1;
        }
}

void bounds_done(struct bounds *list)
{
        for (size_t i = 0; i < list->n; i++) {
                free(list->items[i].text);
                free(list->items[i].band);
        }
        free(list->items);
        *list = (struct bounds){ .n = 0 };
}

/* -------------------------------------------------------------------- judging */

static const struct change *band_change(const struct bound *b, const struct comparison *c)
{
        for (size_t i = 0; i < c->n_rows; i++)
                if (c->rows[i].kind == ROW_BAND && !c->rows[i].unnamed && !strcmp(c->rows[i].name, b->band))
                        return b->peak ? &c->rows[i].peak : &c->rows[i].value;
        return NULL;
}

struct judgement bound_judge(const struct bound *b, const struct comparison *c)
{
        struct judgement j = { .decision = BOUND_UNDECIDED, .unit = b->quantity ? b->quantity->unit : UNIT_BYTES };

        j.change = b->quantity ? &c->quantities[b->quantity - quantities] : band_change(b, c);
        j.most = b->relative ? (j.change ? b->most * fabs(j.change->b) : NAN) : b->most;
        if (!j.change || j.change->shift.basis == SHIFT_NONE || isnan(j.most))
                return j;
        if (j.change->shift.low > j.most)
                j.decision = BOUND_BROKEN;
        else if (j.change->shift.high <= j.most)
                j.decision = BOUND_KEPT;
        return j;
}

const char *decision_word(enum decision d)
{
        static const char *const words[] = {
                [BOUND_KEPT] = "kept",
                [BOUND_UNDECIDED] = "undecided",
                [BOUND_BROKEN] = "broken",
        };

        return words[d];
}
