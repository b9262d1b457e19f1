/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matcher.h - which bands a band{...} selects: conditions on a band's texts.
 *
 * `label` is the band's text; `module`, `source` and `type` are known only for
 * some profiles, `name` tells bands of one label apart. An unknown text is
 * matched as an empty one. =~ takes a regular expression
 * (proto/cli/pattern/pattern.h) that must match the whole text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/cli/pattern/pattern.h"
#include "proto/base/error.h"

#define MATCHER_MAX 8 /* conditions of one band{...} */

enum band_text { BAND_LABEL, BAND_MODULE, BAND_SOURCE, BAND_TYPE_NAME, BAND_NAME, BAND_TEXTS };

/* "label", "module" ...; NULL after the last. */
const char *band_text_name(enum band_text which);

enum match_op { MATCH_EQUAL, MATCH_NOT_EQUAL, MATCH_REGEX, MATCH_NOT_REGEX };

struct condition {
        enum band_text which;
        enum match_op op;
        const char *text;        /* what was written between the quotes, escapes resolved; borrowed */
        struct pattern *pattern; /* for =~ and !~ */
};

struct matcher {
        struct condition conditions[MATCHER_MAX];
        size_t n;
};

/* Adds a condition; false with a sentence in `error`. `text` must outlive the matcher. */
bool matcher_add(struct matcher *m, enum band_text which, enum match_op op, const char *text, struct error *error);
void matcher_done(struct matcher *m);

/* Whether a band with these texts (NULL = not known) is selected. */
bool matcher_matches(const struct matcher *m, const char *const texts[BAND_TEXTS]);
