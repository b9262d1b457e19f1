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
 * Checks that need time use event time, which does not advance when nothing
 * arrives: `silent_ns` is how long, by the clock, nothing has come from a
 * running program; 0 when it has ended or is not known to run.
 */
size_t model_advice(const struct model *m, uint64_t silent_ns, enum hw_advice *codes, size_t max);

#endif
