/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rare.h - the verdict's window for samples that are too rare to fill any other.
 *
 * A program that grows fast is sampled ever more rarely: a copying collector
 * looks at all of the old generation when it has doubled, and a census is taken
 * as often as its share of time allows, both at distances that grow with the
 * heap. Such samples come at times in a geometric series, and fill two thirds
 * of no window of equal steps, however long the run. But few points are enough
 * for a line that fits well.
 *
 * The window is the newest 16, 12, 8, 6 or 5 samples, wherever they lie,
 * judged by the same tests, with the halves by samples instead of time. It is
 * judged while no other window decides, or while samples thin out and only wide
 * windows do, at a minute with a sample or when the last other one no longer
 * does, and is only ever evidence of growth: that there is none is not said from
 * so few.
 */
#ifndef HW_DAEMON_TREND_RARE_H
#define HW_DAEMON_TREND_RARE_H

#include "daemon/trend/windows.h"

#define RARE_SAMPLES 16u

/* The newest minutes with a sample, at their own times: where the ladder keeps them depends on their age. */
struct rare {
        uint32_t minutes[RARE_SAMPLES]; /* of the run; the newest is at (n - 1) % RARE_SAMPLES */
        float floors[RARE_SAMPLES];
        uint64_t n; /* so far */
};

/* Takes in the minute that was closed last, NaN when it had no sample. */
void rare_push(struct rare *rare, uint64_t minute, double floor);

/* Whether the samples come at rising minutes before minute `minutes`: for those from a file. */
bool rare_is_sound(const struct rare *rare, uint64_t minutes);

/* Whether no other window decides about the newest samples. */
bool rare_is_needed(const struct windows *w, const struct rare *rare, const struct ladder *ladder);

/* Judges RARE_WINDOW after rare_push() and windows_judge(). Without growth it has no result. was_needed: before. */
void rare_judge(struct windows *w, const struct rare *rare, const struct ladder *ladder, const struct life *life,
                bool was_needed);

/* Minutes without a sample until the result is too old and dropped, at least 1; UINT64_MAX: there is none. */
uint64_t rare_lasts(const struct windows *w, const struct rare *rare, const struct ladder *ladder);

#endif
