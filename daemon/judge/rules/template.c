/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/rule.h"

#include <string.h>

#include "proto/base/error.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"

static const char *const places[PLACES] = {
        [PLACE_TARGET] = "target",       [PLACE_BAND] = "band",
        [PLACE_SOURCE] = "source",       [PLACE_VALUE] = "value",
        [PLACE_THRESHOLD] = "threshold", [PLACE_SLOPE] = "slope",
        [PLACE_SINCE] = "since",         [PLACE_ONSET] = "onset",
        [PLACE_NOTE] = "note",           [PLACE_TIME_TO_LIMIT] = "time_to_limit",
        [PLACE_RUNS_OUT] = "runs_out",   [PLACE_WHERE] = "where",
        [PLACE_VERDICT] = "verdict",     [PLACE_SIZING] = "sizing",
        [PLACE_REASON] = "reason",       [PLACE_THREADS] = "threads",
};

const char *placeholder_name(enum placeholder p)
{
        return p < PLACES ? places[p] : NULL;
}

/* The name between {{ and }}, without spaces around it. */
struct name {
        const char *text;
        size_t size;
        const char *end; /* after the }}; NULL when there is none */
};

static struct name read_name(const char *open)
{
        const char *close = strstr(open, "}}"), *from = open + 2, *to = close;

        if (!close)
                return (struct name){ .text = from };
        while (from < to && *from == ' ')
                from++;
        while (to > from && to[-1] == ' ')
                to--;
        return (struct name){ .text = from, .size = (size_t)(to - from), .end = close + 2 };
}

static enum placeholder find_placeholder(const struct name *n)
{
        for (unsigned i = 0; i < PLACES; i++)
                if (strlen(places[i]) == n->size && !memcmp(places[i], n->text, n->size))
                        return i;
        return PLACES;
}

static void explain_name(const struct name *n, struct error *error)
{
        struct text_out o;
        char typed[40];

        text_out_init(&o, typed, sizeof(typed));
        text_put_n(&o, n->text, n->size);
        const char *meant = nearest(typed, places, PLACES);
        text_out_init(&o, error->text, sizeof(error->text));
        text_put(&o, "unknown {{");
        text_put(&o, typed);
        text_put(&o, meant ? "}}; did you mean {{" : "}}; expected one of");
        for (unsigned i = 0; !meant && i < PLACES; i++) {
                text_put(&o, " ");
                text_put(&o, places[i]);
        }
        text_put(&o, meant ? meant : "");
        text_put(&o, meant ? "}}?" : "");
}

bool template_check(const char *text, bool of_bands, uint32_t *ret_column, struct error *error)
{
        const char *at = text;

        while ((at = strstr(at, "{{"))) {
                struct name n = read_name(at);
                enum placeholder p = n.end ? find_placeholder(&n) : PLACES;

                const bool needs_band = p == PLACE_BAND || p == PLACE_SOURCE;
                if (p != PLACES && (!needs_band || of_bands)) {
                        at = n.end;
                        continue;
                }
                uint32_t column = 1;
                for (; text < at; text++)
                        column += ((unsigned char)*text & 0xc0) != 0x80;
                *ret_column = column;
                if (!n.end)
                        text_join(error->text, sizeof(error->text), "{{ has no closing }}", NULL);
                else if (needs_band)
                        text_join(error->text, sizeof(error->text), "{{", places[p],
                                  "}} has no meaning here: the expression does not refer to band{...}", NULL);
                else
                        explain_name(&n, error);
                return false;
        }
        return true;
}

static const char unknown[] = "unknown";

/* Puts text[0 .. n) with its placeholders filled in. Returns whether all of them are known. */
static bool put_part(struct text_out *o, const char *text, size_t n, const char *const values[PLACES])
{
        const char *end = text + n, *open;
        bool known = true;

        while ((open = memmem(text, (size_t)(end - text), "{{", 2))) {
                struct name name = read_name(open);
                enum placeholder p = name.end && name.end <= end ? find_placeholder(&name) : PLACES;

                if (p == PLACES)
                        break;
                text_put_n(o, text, (size_t)(open - text));
                text_put(o, values[p] ? values[p] : unknown);
                known &= values[p] != NULL;
                text = name.end;
        }
        text_put_n(o, text, (size_t)(end - text));
        return known;
}

/* The first of the parts between | that has nothing unknown; none: nothing. */
static void put_known_part(struct text_out *o, const char *text, const char *end, const char *const values[PLACES])
{
        while (text <= end) {
                const char *bar = memchr(text, '|', (size_t)(end - text));
                size_t n = (size_t)((bar ? bar : end) - text), before = o->used;

                if (put_part(o, text, n, values))
                        return;
                o->used = before;
                o->at[before] = '\0';
                text += n + 1;
        }
}

size_t template_expand(const char *text, const char *const values[PLACES], char *out, size_t size)
{
        struct text_out o;
        const char *open, *close;

        text_out_init(&o, out, size);
        while ((open = strstr(text, "[[")) && (close = strstr(open, "]]"))) {
                (void)put_part(&o, text, (size_t)(open - text), values);
                put_known_part(&o, open + 2, close, values);
                text = close + 2;
        }
        (void)put_part(&o, text, strlen(text), values);
        return o.used;
}
