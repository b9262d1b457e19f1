/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sentences.h - verdicts, growth and limits in plain words, for people who do
 * not know how they are computed. Of the program's own texts only labels of
 * bands are included, which may hold anything: escape before displaying.
 *
 * All write at most `size` bytes, NUL included, and return `out`.
 */
#ifndef HW_DAEMON_PUBLISH_SENTENCES_H
#define HW_DAEMON_PUBLISH_SENTENCES_H

#include <stddef.h>

#include "daemon/trend/tracker.h"

#define SENTENCE_MAX 1024

/*
 * "grows to new highs, by 1.2 MiB/s (1.0 to 1.4) over the last 3h 12m; not called a leak: ...". The _key forms return
 * the key of what is said, for programs: static, a word of the tables in sentences.c.
 */
char *sentence_verdict(char *out, size_t size, const struct trend_result *r);
const char *sentence_verdict_key(char *out, size_t size, const struct trend_result *r);

/* Where memory grows. */
char *sentence_growth(char *out, size_t size, const struct growth *g, const struct bands *bands);
const char *sentence_growth_key(char *out, size_t size, const struct growth *g, const struct bands *bands);

/* "in 1h 10m to 2h 05m live data meets the limit of its control group (2.00 GiB)" */
char *sentence_limit(char *out, size_t size, const struct limit_time *l);

/*
 * "live data has risen for 12 s, from 2.40 MiB to 107 MiB, by 9.6 MiB/s (9.1 to 10.1); not confirmed yet; if it
 * continues, it meets -M (400 MiB) in 30 s (28 s to 33 s)". The rise lasts to its newest measurement.
 */
char *sentence_early(char *out, size_t size, const struct tracked_early *r);
const char *sentence_early_key(char *out, size_t size, const struct tracked_early *r);

/* "60,120 threads, +112/s; at the last census 49,800 of them blocked on an MVar in Main.worker" */
char *sentence_threads(char *out, size_t size, const struct thread_rise *r, const struct bands *bands);

/* "238 MiB of live data needs a heap of up to 960 MiB with a copying collector: ..."; "" when either is not known. */
char *sentence_sizing(char *out, size_t size, const struct run *run, const struct heap *heap);

/* "judged in steps of 1 s: growth that lasts 3m 00s without slowing down is called a leak" */
char *sentence_scale(char *out, size_t size, const struct tracker_config *c);

#endif
