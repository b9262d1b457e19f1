/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.h - what a mistyped word was meant to be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The word of `words` (n of them) that is nearest to `typed`, or NULL when none is near. Borrowed from `words`. */
const char *nearest(const char *typed, const char *const *words, size_t n);

/* The same word by word, where they are in no list: begun with `typed` alone. */
struct nearest {
        const char *typed;
        const char *found; /* NULL: none so far */
        size_t best;
};

void nearest_try(struct nearest *n, const char *word);

/*
 * The order in which every face lists names of targets: as strcmp, or as strcasecmp with `fold`, but a previous run
 * NAME~9 comes before NAME~10. A total order.
 */
int name_order(const char *a, const char *b, bool fold);
