/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/phrase.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"

#define PHRASE_SLOT_MAX 1024 /* of a value; longer ones are cut */

struct phrase phrase_begin(char *out, size_t size, bool over, phrase_slots *slots, const void *of)
{
        out[0] = '\0';
        return (struct phrase){ .out = out, .size = size, .over = over, .slots = slots, .of = of };
}

static void append_raw(struct phrase *s, const char *text, size_t n)
{
        const size_t room = s->size - s->used - 1, fits = n < room ? n : room;

        memcpy(s->out + s->used, text, fits);
        s->used += fits;
        while (fits < n && s->used > 0 && ((unsigned char)text[fits] & 0xC0) == 0x80 &&
               ((unsigned char)s->out[s->used - 1] & 0xC0) == 0x80)
                s->used--; /* within a character */
        s->out[s->used] = '\0';
}

bool phrase_printf(struct phrase *s, const char *format, ...)
{
        char text[PHRASE_SLOT_MAX];
        va_list args;

        va_start(args, format);
        const int n = vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        append_raw(s, text, n < 0 ? 0 : strlen(text));
        return true;
}

bool phrase_append_clean(struct phrase *s, const char *text, size_t max)
{
        char clean[PHRASE_SLOT_MAX];

        if (!text)
                return false;
        (void)hw_utf8_clean(clean, max < sizeof(clean) ? max + 1 : sizeof(clean), text, strlen(text));
        return phrase_printf(s, "%s", clean);
}

bool phrase_append_bytes(struct phrase *s, double bytes)
{
        char text[HW_NUMBER_MAX];

        return phrase_printf(s, "%s", hw_bytes_text(text, sizeof(text), bytes));
}

bool phrase_append_duration(struct phrase *s, double ns)
{
        char text[HW_NUMBER_MAX];

        return phrase_printf(s, "%s", hw_duration_text(text, sizeof(text), ns));
}

bool phrase_append_count(struct phrase *s, uint64_t n)
{
        char text[HW_NUMBER_MAX];

        return phrase_printf(s, "%s", hw_count_text(text, sizeof(text), n));
}

bool phrase_append_counted(struct phrase *s, uint64_t n, const char *one, const char *many)
{
        return phrase_append_count(s, n) && phrase_printf(s, " %s", n == 1 ? one : many);
}

bool phrase_append_share(struct phrase *s, double share)
{
        char text[HW_NUMBER_MAX];

        return !isnan(share) && phrase_printf(s, "%s", hw_share_text(text, sizeof(text), share));
}

bool phrase_append_moment(struct phrase *s, uint64_t time_ns)
{
        s->has_moment = true;
        s->moment_at = s->used;
        s->moment_ns = time_ns;
        return true;
}

bool phrase_append_rate(struct phrase *s, double rate)
{
        char text[HW_NUMBER_MAX];

        if (!s->rate.name)
                s->rate = rate_unit(rate);
        return phrase_printf(s, "%s", rate_text(text, sizeof(text), s->rate, rate));
}

bool phrase_append_rate_within(struct phrase *s, double rate, double low, double high)
{
        char text[RATE_WITHIN_MAX];

        if (!s->rate.name)
                s->rate = rate_unit_within(rate, low, high);
        return phrase_printf(s, "%s", rate_within_text(text, s->rate, rate, low, high));
}

bool phrase_append_count_rate(struct phrase *s, double rate, double low, double high)
{
        char text[COUNT_RATE_MAX], least[COUNT_RATE_MAX] = "", most[COUNT_RATE_MAX] = "";

        if (!isnan(low) && !isnan(high) && strcmp(count_rate_text(least, low), count_rate_text(most, high)) != 0)
                return phrase_printf(s, "%s (%s to %s)", count_rate_text(text, rate), least, most);
        return phrase_printf(s, "%s", count_rate_text(text, rate));
}

/* What is between braces: alternatives by time, or a slot. */
static bool put_braces(struct phrase *s, const char *text, size_t n)
{
        const char *bar = memchr(text, '|', n);

        if (!bar)
                return s->slots && s->slots(s, text, n, s->of);
        if (s->over)
                append_raw(s, bar + 1, n - (size_t)(bar + 1 - text));
        else
                append_raw(s, text, (size_t)(bar - text));
        return true;
}

/* What was appended since is left out. */
static void restore_phrase(struct phrase *s, const struct phrase *before)
{
        *s = *before;
        s->out[s->used] = '\0';
}

/* Up to the end of the text, or of the group that begins before it. False: a slot is not known. */
static bool put_text(struct phrase *s, const char **at, bool in_group)
{
        bool known = true;

        while (**at && **at != ']') {
                const char *p = *at;

                if (*p == '{') {
                        const size_t n = strcspn(p + 1, "}");
                        *at = p + 1 + n + (p[1 + n] == '}');
                        if (put_braces(s, p + 1, n))
                                continue;
                        if (in_group) {
                                /* To the end of the group that `at` is in. */
                                for (int depth = 0; **at && (depth > 0 || **at != ']'); ++*at)
                                        depth += (**at == '[') - (**at == ']');
                                return false;
                        }
                        known = false;
                        append_raw(s, "?", 1);
                } else if (*p == '[') {
                        const struct phrase before = *s;
                        *at = p + 1;
                        if (!put_text(s, at, true))
                                restore_phrase(s, &before);
                        *at += **at == ']';
                } else {
                        const size_t n = strcspn(p, "{[]");
                        append_raw(s, p, n);
                        *at = p + n;
                }
        }
        return known;
}

bool phrase_append_text(struct phrase *s, const char *text)
{
        return put_text(s, &text, false);
}

bool phrase_append_list(struct phrase *s, const char *separator, const char *const *texts, size_t n)
{
        bool any = false;

        for (size_t i = 0; i < n; i++) {
                const struct phrase before = *s;

                if (any)
                        append_raw(s, separator, strlen(separator));
                const char *text = texts[i];
                if (put_text(s, &text, true))
                        any = true;
                else
                        restore_phrase(s, &before);
        }
        return any;
}

bool phrase_append_row(struct phrase *s, const struct phrase_row *row)
{
        if (s->skip > 0) {
                s->skip--;
                return false;
        }
        (void)phrase_append_text(s, row->text);
        return true;
}
