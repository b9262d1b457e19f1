/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h - two logs, compared as `heapwatch diff` does, from the messages of the one time that they are read. */
#ifndef HW_CLIENT_REPORT_PAIR_H
#define HW_CLIENT_REPORT_PAIR_H

#include <stdbool.h>

#include "heapwatch/wire.h"
#include "proto/base/json_out.h"

struct pair;

/* Names are borrowed. NULL: out of memory. */
struct pair *pair_new(const char *baseline, const char *new_log);
void pair_destroy(struct pair **p);

/* Messages of both logs, one log after the other. 0 or -ENOMEM. */
int pair_add(struct pair *p, const Hw__Update *update);
int pair_end(struct pair *p);

/* The object of `diff --format json`. False: a log had no run, or out of memory. */
bool pair_put(const struct pair *p, struct json_out *j);

#endif
