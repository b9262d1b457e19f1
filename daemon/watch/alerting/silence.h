/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silence.h - which alerts must not be acted on, until when, and why.
 *
 * A silence names a rule and a target by patterns (* ? [...]); an alert that
 * matches both is published as usual, but causes no actions. Pure: time is an
 * argument, Unix time in ns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define SILENCES_MAX        1000u /* more are refused */
#define SILENCE_PATTERN_MAX 257u  /* bytes of a pattern, NUL included */
#define SILENCE_WHY_MAX     513u  /* longer reasons are cut */
#define SILENCE_LONGEST_NS  (366u * 86400000000000u)

struct silence {
        uint64_t id;                                                 /* from 1, never reused while the list lives */
        char rule[SILENCE_PATTERN_MAX], target[SILENCE_PATTERN_MAX]; /* "*" = all */
        char why[SILENCE_WHY_MAX];                                   /* UTF-8; may be empty */
        uint64_t created_wall_ns, until_wall_ns;
};

struct silences {
        struct silence *items; /* in order of id */
        size_t n;
        uint64_t next_id;
};

void silences_init(struct silences *s);
void silences_done(struct silences *s);

/*
 * Adds a silence; `id` 0 means the next id. It replaces one with the same patterns. False with a sentence in `error`:
 * invalid patterns or time, or no room.
 */
bool silences_add(struct silences *s, const struct silence *silence, uint64_t now_wall_ns, uint64_t *ret_id,
                  struct error *error);

/* Ends the silence with this id, or (id 0) those with exactly these patterns. Returns how many. */
size_t silences_remove(struct silences *s, uint64_t id, const char *rule, const char *target);

/* Drops those whose time is over. Returns how many. */
size_t silences_expire(struct silences *s, uint64_t now_wall_ns);

/* Of those that match, the one that lasts longest; NULL when there is none. Valid until the list changes. */
const struct silence *silences_find(const struct silences *s, const char *rule, const char *target,
                                    uint64_t now_wall_ns);

/*
 * silence_state.c: silences as a JSON text that is kept across restarts; everything in it is checked when read. Pure:
 * silence_store.h handles the file.
 */

#define SILENCE_STATE_BYTES_MAX (4u << 20) /* of the text */

/* A string to free(); NULL when out of memory. */
char *silence_state_text(const struct silences *silences);

/*
 * Replaces the silences by those of the text; silences that are over are left out. False with a sentence (where, what
 * was expected) in `error`: then they are unchanged.
 */
bool silence_state_parse(const char *text, size_t size, uint64_t now_wall_ns, struct silences *silences,
                         struct error *error);
