/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_schedule.h - how many bytes of a log have arrived by a given time.
 *
 * Either recorded (a timing file, lines `seconds offset`), or a steady rate, or
 * everything at once. Pure: time is an argument.
 */
#ifndef HW_CLIENT_COMMANDS_REPLAY_SCHEDULE_H
#define HW_CLIENT_COMMANDS_REPLAY_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct arrival {
        double seconds;  /* since the first byte could have arrived */
        uint64_t offset; /* bytes that had arrived then */
};

struct schedule {
        struct arrival *arrivals; /* both ascending; NULL = not recorded */
        size_t n;
        double bytes_per_s; /* when not recorded; 0 = all at once */
        double speed;       /* > 0; 2 = twice as fast */
};

/* All at once, at the recorded speed. */
void schedule_init(struct schedule *s);
void schedule_done(struct schedule *s);

/* Parses a timing file's text (terminated). False with a message in `error` that names the line; s is unchanged. */
bool schedule_parse(struct schedule *s, const char *text, struct error *error);

/* How many of `size` bytes may have been played `seconds` after the start. */
uint64_t schedule_due(const struct schedule *s, double seconds, uint64_t size);

/* Seconds after the start when byte number `played` + 1 (at most `size`) is due. */
double schedule_next(const struct schedule *s, uint64_t played, uint64_t size);

#endif
