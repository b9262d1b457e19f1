/* SPDX-License-Identifier: BSD-3-Clause */
/* advice.h - what this stream lacks, from what has and has not been seen. Texts: proto/eventlog/advice.h. Pure. */
#ifndef HW_DAEMON_MODEL_ADVICE_H
#define HW_DAEMON_MODEL_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/eventlog/advice.h"

struct model;

/*
 * Fills `codes` with at most `max` codes that hold now; returns their number.
 * Judgements that need time (no flushing ...) look at event time only.
 */
size_t model_advice(const struct model *m, enum hw_advice *codes, size_t max);

#endif
