/* SPDX-License-Identifier: BSD-3-Clause */
/* contents.h - what the closures of a band hold: in a few words, as rows below the band, and as JSON. */
#ifndef HW_INSPECT_SHOW_CONTENTS_H
#define HW_INSPECT_SHOW_CONTENTS_H

#include "inspect/ghc/bands.h"
#include "proto/base/json_out.h"

#define CONTENTS_TEXT_BYTES 512

/* Most of it: "[Session]" of all, "81.0 % [Session]" of what is mixed; "" where the band's name says as much. */
const char *contents_most(const struct heap_band *b, char ret[CONTENTS_TEXT_BYTES]);

/* "Array# Session (98.0 % of its elements)"; safe for a terminal. */
const char *contents_name(const struct heap_band *content, char ret[CONTENTS_TEXT_BYTES]);

/* Members of the band's object; none where it holds nothing that is told apart. */
void contents_json(struct json_out *j, const struct heap_band *b);

#endif
