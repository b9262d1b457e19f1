/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phrase.h - sentences from tables. A row has a key, the condition under which it is said, and its text; the first row
 * of a table whose condition holds is said. A text is looked up by its words, and its key is what programs and tests
 * compare.
 *
 *      TABLE(rises, struct rise, r)
 *      SAY("rise-met-limit", r->at_limit, "live data {has|had} risen for {age}[, from {base}]; it {has|had} met -M")
 *      SAY("rise", true, "live data {has|had} risen for {age}[, from {base}][; measured {level_age} ago]")
 *      END
 *
 * {name} is a slot: a value of what the sentence is about. [...] is left out when a slot in it is not known, and what
 * is behind that slot is not asked for; groups nest. {now|then} is what is said of a run that goes on, or of one that
 * is over, or any other two forms. Texts of slots are taken as they are.
 * All rates of a sentence have the unit of the first. Texts are cut at the end of the room, at a whole character.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/rate.h"

struct phrase;

struct phrase_row {
        const char *key, *text;
        int tone; /* the caller's */
};

/* Appends the value of the slot of that name; false: it is not known, or there is no such slot. */
typedef bool phrase_slots(struct phrase *s, const char *name, size_t n, const void *of);

/* Appends what the table says; the row, or NULL when no condition holds. */
typedef const struct phrase_row *phrase_table(struct phrase *s);

/* A sentence in the making. `out` is a text at all times. */
struct phrase {
        char *out;
        size_t size, used;
        struct rate_unit rate; /* no name until the first rate */
        bool over;             /* what it is about is over: the second of two forms is said */
        bool has_moment;
        size_t moment_at; /* where in the text the caller shows a moment, in a clock that is the reader's */
        uint64_t moment_ns;
        unsigned skip; /* so many rows whose condition holds are passed over */
        phrase_slots *slots;
        const void *of;
};

struct phrase phrase_begin(char *out, size_t size, bool over, phrase_slots *slots, const void *of);

/* Appends a text with slots. False: a slot outside of [...] is not known, and stands as "?". */
bool phrase_append_text(struct phrase *s, const char *text);

/* For slots: each appends a value, and returns true. */
__attribute__((format(printf, 2, 3))) bool phrase_printf(struct phrase *s, const char *format, ...);
bool phrase_append_clean(struct phrase *s, const char *text, size_t max); /* of others, in UTF-8; NULL is not known */
bool phrase_append_bytes(struct phrase *s, double bytes);
bool phrase_append_duration(struct phrase *s, double ns);
bool phrase_append_count(struct phrase *s, uint64_t n);
bool phrase_append_counted(struct phrase *s, uint64_t n, const char *one, const char *many); /* "1 place", "3 places" */
bool phrase_append_share(struct phrase *s, double share);                                    /* NaN is not known */
bool phrase_append_moment(struct phrase *s, uint64_t time_ns); /* no text: notes where the caller shows it */
/* Of these texts with slots those that are known; false: none is. */
bool phrase_append_list(struct phrase *s, const char *separator, const char *const *texts, size_t n);
bool phrase_append_rate(struct phrase *s, double rate);
bool phrase_append_rate_within(struct phrase *s, double rate, double low, double high);

/* "+112/s (+109/s to +114/s)", of things that are counted; low or high NaN, or all the same: without the interval. */
bool phrase_append_count_rate(struct phrase *s, double rate, double low, double high);

/*
 * The rows of a file of tables and slots, as functions; what a sentence is about has a name in them. SLOTS is the same
 * for slots, which stand between it and END. The file's own macros (TABLE, SAY, ...) are these.
 */
#define PHRASE_TABLE(function, type, name)                                                                             \
        const struct phrase_row *function(struct phrase *s)                                                            \
        {                                                                                                              \
                const type *name = s->of;                                                                              \
                (void)name;
#define PHRASE_SAY(key, tone, condition, text)                                                                         \
        if (condition) {                                                                                               \
                static const struct phrase_row row = { key, text, tone };                                              \
                if (phrase_append_row(s, &row))                                                                        \
                        return &row;                                                                                   \
        }
#define PHRASE_SLOTS(function, type, name)                                                                             \
        bool function(struct phrase *s, const char *slot, size_t slot_n, const void *slot_of)                          \
        {                                                                                                              \
                const type *name = slot_of;
#define PHRASE_SLOT(name, ...)                                                                                         \
        if (slot_n == sizeof(#name) - 1 && !memcmp(slot, #name, slot_n))                                               \
                return (__VA_ARGS__);
#define PHRASE_OTHERS(slots, of) return slots(s, slot, slot_n, of); /* as those of `of` are */
#define PHRASE_END                                                                                                     \
        return 0;                                                                                                      \
        }

/* False: the row is one of those that are passed over. */
bool phrase_append_row(struct phrase *s, const struct phrase_row *row);
