/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silence.h - which alerts must not be acted on, until when, and why.
 *
 * A silence names a rule and a target by patterns (* ? [...]); an alert that
 * matches both is published as usual, but causes no actions. Pure: time is an
 * argument, Unix time in ns.
 */
#ifndef HW_DAEMON_ALERTING_SILENCE_H
#define HW_DAEMON_ALERTING_SILENCE_H

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

#endif
