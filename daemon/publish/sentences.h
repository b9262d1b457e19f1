/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sentences.h - verdicts, growth and limits in plain words, for people who do not know how they are computed. Of the
 * program's own texts only labels of bands are included, which may hold anything: escape before displaying.
 *
 * All write at most `size` bytes, NUL included, and return the key of what is said, for programs: static, of a row of
 * sentences.def; "" when nothing is said.
 */
#pragma once

#include <stddef.h>

#include "daemon/model/bands.h"
#include "daemon/judge/trend/growth.h"
#include "daemon/judge/trend/tracker.h"

#define SENTENCE_MAX 1024

/* "grows to new highs, by 1.2 MiB/s (1.0 to 1.4) over the last 3h 12m; not called a leak: ..." */
const char *sentence_verdict(char *out, size_t size, const struct trend_result *r);

/* Where memory grows. */
const char *sentence_growth(char *out, size_t size, const struct growth *g, const struct bands *bands);

/* "in 1h 10m to 2h 05m live data reaches the limit of its control group (2.00 GiB)" */
const char *sentence_limit(char *out, size_t size, const struct limit_time *l);

/*
 * "live data has risen for 12 s, from 2.40 MiB to 107 MiB, by 9.6 MiB/s (9.1 to 10.1); not confirmed yet; if it
 * continues, it meets -M (400 MiB) in 30 s (28 s to 33 s)". The rise lasts to its newest measurement.
 */
const char *sentence_early(char *out, size_t size, const struct tracked_early *r);

/* "60,120 threads, +112/s; the largest group at the last census: threads blocked on an MVar in Main.worker" */
const char *sentence_threads(char *out, size_t size, const struct thread_rise *r, const struct bands *bands);

/* "238 MiB of live data needs a heap of up to 960 MiB with a copying collector: ..."; "" when either is not known. */
const char *sentence_sizing(char *out, size_t size, const struct run *run, const struct heap *heap);

/* "judged in steps of 1 s: growth that lasts 3m 00s without slowing down is called a leak" */
const char *sentence_scale(char *out, size_t size, const struct tracker_config *c);

/* label.c: labels of bands for display. Pure. */

#define LABEL_MAX 128 /* bytes of a constructed label, NUL included */

/*
 * Writes a short label of a band whose name is not a single text, and returns its length; 0
 * for all other bands, whose label is the text of the census, however long, because that is
 * published nowhere else. Raw bytes, not checked for UTF-8.
 *
 *   -hc   "Main.retain;Main.main;MAIN": innermost first; ";..." when the rest does not fit;
 *         "cc#7" for a cost centre that the log never defined
 *   -hi   "Main.retain" from the table's module and label, else its name
 */
size_t label_band(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

/* The label that rows have: the same, or the text of the census. Borrowed, from ret_label or the band. */
const char *label_of_row(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * The label of a growing band, number `i` of `g`: that of its row and, when another one of them has the same, type and
 * place of its info table: "Main.main ((,), Main.hs:16:27-67)". "?" for a band that there is not. Borrowed likewise.
 */
const char *label_of_growing(char ret_label[LABEL_MAX], const struct bands *bands, const struct growth *g, uint32_t i);

/*
 * Writes what distinguishes a band from others of the same label, in every run of the
 * same program, and returns its length; 0 when the label does so by itself.
 *
 *   -hi   the table's own name, such as "sat_s4nN_info": all closures of one function share a label
 *   -hc   "stack-1f00ba7e55aa90c3", a hash of the whole stack, when the label does not hold all of it
 */
size_t label_band_name(char ret_name[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * The name of a closure type that the compiler gave as a number: "THUNK_1_1" for "19". Anything that is not a closure
 * type of the heap is returned as it is, also NULL. The numbers are the same in GHC 8.10 to 9.12
 * (rts/storage/ClosureTypes.h).
 */
const char *label_closure_type(const char *number);
