/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backoff.h - how long to wait before the next attempt: doubles from
 * BACKOFF_FIRST_MS to BACKOFF_MAX_MS, with jitter over its upper half, so that
 * many targets that lost one host do not all come back in the same instant.
 */
#pragma once

#include <stdint.h>
#include <sys/time.h>

#define BACKOFF_FIRST_MS 50u
#define BACKOFF_MAX_MS   5000u

struct backoff {
        uint32_t attempts; /* since the last reset */
};

/* Milliseconds until the next attempt; `random` is any number. */
uint32_t backoff_next_ms(struct backoff *b, uint32_t random);

/* The same as a timeval, with a random number of its own. */
struct timeval backoff_next(struct backoff *b);

/* After a success: the next failure starts from BACKOFF_FIRST_MS again. */
void backoff_reset(struct backoff *b);
