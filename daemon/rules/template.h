/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * template.h - annotations: texts with {{names}} that are filled in when an alert is published. Of "[[this|that]]" the
 * first part is kept of which everything is known, so that no sentence has "unknown" in its middle.
 */
#ifndef HW_DAEMON_RULES_TEMPLATE_H
#define HW_DAEMON_RULES_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum placeholder {
        PLACE_TARGET,
        PLACE_BAND,
        PLACE_SOURCE,
        PLACE_VALUE,
        PLACE_THRESHOLD,
        PLACE_SLOPE,
        PLACE_SINCE,
        PLACE_ONSET,
        PLACE_NOTE,
        PLACE_TIME_TO_LIMIT,
        PLACE_WHERE,
        PLACE_VERDICT,
        PLACE_SIZING,
        PLACE_RUNS_OUT,
        PLACE_THREADS,
        PLACE_REASON,
        PLACES
};

/* The name; NULL outside. */
const char *placeholder_name(enum placeholder p);

/* False when a {{name}} is unknown or not closed: *ret_column (from 1, in characters) and a sentence. */
bool template_check(const char *text, bool of_bands, uint32_t *ret_column, struct error *error);

/* Fills in a checked text; a value of NULL is not known. Cut at `size`. Returns the length. */
size_t template_expand(const char *text, const char *const values[PLACES], char *out, size_t size);

#endif
