/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.c - a short array: silences are made by people, so there are few, and linear search is enough. */
#include "daemon/watch/alerting/silence.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/error.h"

void silences_init(struct silences *s)
{
        memset(s, 0, sizeof(*s));
        s->next_id = 1;
}

void silences_done(struct silences *s)
{
        free(s->items);
        silences_init(s);
}

static bool matches(const char *pattern, const char *text)
{
        return fnmatch(pattern, text, 0) == 0;
}

static bool good_pattern(const char *pattern)
{
        if (!*pattern)
                return false;
        for (const char *c = pattern; *c; c++)
                if ((unsigned char)*c < 0x20 || *c == 0x7f)
                        return false;
        return hw_utf8_valid(pattern, strlen(pattern));
}

static const char *wrong(const struct silence *a, uint64_t now_wall_ns)
{
        if (!good_pattern(a->rule))
                return "expected the name of a rule, or a pattern such as 'gc_*'";
        if (!good_pattern(a->target))
                return "expected the name of a target, or a pattern such as 'api-*'";
        if (a->until_wall_ns <= now_wall_ns)
                return "the end of the silence is not in the future";
        if (a->until_wall_ns - now_wall_ns > SILENCE_LONGEST_NS)
                return "a silence lasts at most 366 days";
        return NULL;
}

bool silences_add(struct silences *s, const struct silence *silence, uint64_t now_wall_ns, uint64_t *ret_id,
                  struct error *error)
{
        const char *mistake = wrong(silence, now_wall_ns);

        if (!mistake) {
                (void)silences_remove(s, 0, silence->rule, silence->target);
                if (s->n == SILENCES_MAX)
                        mistake = "there can be at most 1000 silences; end some first";
        }
        struct silence *more = mistake ? NULL : realloc(s->items, (s->n + 1) * sizeof(*more));
        if (!more)
                return error_set(error, "%s", mistake ? mistake : "out of memory");
        s->items = more;
        more[s->n] = *silence;
        if (silence->id < s->next_id)
                more[s->n].id = s->next_id;
        s->next_id = more[s->n].id + 1;
        *ret_id = more[s->n++].id;
        return true;
}

static void remove_silence(struct silences *s, size_t i)
{
        memmove(s->items + i, s->items + i + 1, (s->n - i - 1) * sizeof(*s->items));
        s->n--;
}

size_t silences_remove(struct silences *s, uint64_t id, const char *rule, const char *target)
{
        size_t removed = 0;

        for (size_t i = s->n; i-- > 0;) {
                const struct silence *a = &s->items[i];
                if (id ? a->id != id : strcmp(a->rule, rule) != 0 || strcmp(a->target, target) != 0)
                        continue;
                remove_silence(s, i);
                removed++;
        }
        return removed;
}

size_t silences_expire(struct silences *s, uint64_t now_wall_ns)
{
        size_t before = s->n;

        for (size_t i = s->n; i-- > 0;)
                if (s->items[i].until_wall_ns <= now_wall_ns)
                        remove_silence(s, i);
        return before - s->n;
}

const struct silence *silences_find(const struct silences *s, const char *rule, const char *target,
                                    uint64_t now_wall_ns)
{
        const struct silence *best = NULL;

        for (size_t i = 0; i < s->n; i++) {
                const struct silence *a = &s->items[i];
                if (a->until_wall_ns <= now_wall_ns || (best && a->until_wall_ns <= best->until_wall_ns))
                        continue;
                if (matches(a->rule, rule) && matches(a->target, target))
                        best = a;
        }
        return best;
}
