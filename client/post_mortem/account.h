/* SPDX-License-Identifier: BSD-3-Clause */
/* account.h - a run's end, as a screen of text or as JSON, written to a stream. */
#ifndef HW_CLIENT_POST_MORTEM_ACCOUNT_H
#define HW_CLIENT_POST_MORTEM_ACCOUNT_H

#include <stdbool.h>
#include <stdio.h>

#include "client/state/world.h"

/* How a run ended. */
enum end { END_RUNS, END_WELL, END_BADLY, END_UNKNOWN };

enum end account_end(const struct world_target *t);

/* `live`: a daemon follows it; false: a finished log. */
void account_text(FILE *to, const struct world_target *t, bool live);
void account_json(FILE *to, const struct world_target *t, bool live);

#endif
