/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phrase.h - sentences from tables. A row has a key, the condition under which it is said, and its text; the first row
 * of a table whose condition holds is said. A text is looked up by its words, and its key is what programs and tests
 * compare.
 *
 *      "live data {has|had} risen for {age}[, from {base}] to {level}[; measured {level_age} ago]"
 *
 * {name} is a slot: a value of what the sentence is about. [...] is left out when a slot in it is not known, and what
 * is behind that slot is not asked for; groups nest. {now|then} is what is said of a run that goes on, or of one that
 * is over. Texts of slots are taken as they are.
 * All rates of a sentence have the unit of the first. Texts are cut at the end of the room, at a whole character.
 */
#ifndef HW_PROTO_BASE_PHRASE_H
#define HW_PROTO_BASE_PHRASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/rate.h"

struct phrase;

struct phrase_row {
        const char *key;              /* NULL: the end of the table */
        bool (*when)(const void *of); /* NULL: always */
        const char *text;
        int tone; /* the caller's */
};

struct phrase_slot {
        const char *name;                              /* NULL: the end of the table */
        bool (*put)(struct phrase *s, const void *of); /* appends the value; false: it is not known */
};

/* A sentence in the making. `out` is a text at all times. */
struct phrase {
        char *out;
        size_t size, used;
        struct rate_unit rate; /* no name until the first rate */
        bool over;             /* what it is about is over */
        bool has_moment;
        size_t moment_at; /* where in the text the caller shows a moment, in a clock that is the reader's */
        uint64_t moment_ns;
        const struct phrase_slot *slots;
        const void *of;
};

struct phrase phrase_begin(char *out, size_t size, bool over, const struct phrase_slot *slots, const void *of);

/* Appends what the table says; the row, or NULL when no condition holds. */
const struct phrase_row *phrase_append_table(struct phrase *s, const struct phrase_row *table);

/* Appends a text with slots. False: a slot outside of [...] is not known, and stands as "?". */
bool phrase_append_text(struct phrase *s, const char *text);

/* For slots: each appends a value, and returns true. */
__attribute__((format(printf, 2, 3))) bool phrase_printf(struct phrase *s, const char *format, ...);
bool phrase_append_clean(struct phrase *s, const char *text, size_t max); /* of others, in UTF-8; NULL is not known */
bool phrase_append_bytes(struct phrase *s, double bytes);
bool phrase_append_duration(struct phrase *s, double ns);
bool phrase_append_count(struct phrase *s, uint64_t n);
bool phrase_append_share(struct phrase *s, double share);      /* NaN is not known */
bool phrase_append_moment(struct phrase *s, uint64_t time_ns); /* no text: notes where the caller shows it */
/* Of these texts with slots those that are known; false: none is. */
bool phrase_append_list(struct phrase *s, const char *separator, const char *const *texts, size_t n);
bool phrase_append_rate(struct phrase *s, double rate);
bool phrase_append_rate_within(struct phrase *s, double rate, double low, double high);

/* A condition, and a slot, of one expression of `name`, which is what the sentence is about. */
#define PHRASE_WHEN(function, type, name, expression)                                                                  \
        static bool function(const void *function##_of)                                                                \
        {                                                                                                              \
                const type *name = function##_of;                                                                      \
                return (expression);                                                                                   \
        }
#define PHRASE_SLOT(function, type, name, expression)                                                                  \
        static bool function(struct phrase *s, const void *function##_of)                                              \
        {                                                                                                              \
                const type *name = function##_of;                                                                      \
                return (expression);                                                                                   \
        }

#endif
