/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h - one budget of memory for the whole daemon.
 *
 * What counts is what the kernel counts: the resident size, looked at once a second. Above MEMORY_TIGHT_PCT of the
 * budget targets get no new bands (they are counted as left out), above MEMORY_FULL_PCT new targets are refused, until
 * it is MEMORY_BACK_PCT less. What is freed goes back to the kernel, at the latest after MEMORY_TRIM_NS.
 *
 * One budget a process; called by the loop's thread only.
 */
#ifndef HW_DAEMON_LOOP_MEMORY_H
#define HW_DAEMON_LOOP_MEMORY_H

#include <stdint.h>

#define MEMORY_TIGHT_PCT  80u
#define MEMORY_FULL_PCT   95u
#define MEMORY_BACK_PCT   5u
#define MEMORY_TRIM_NS    UINT64_C(5000000000)
#define MEMORY_TRIM_BYTES (8u << 20) /* less than that is not worth the walk */

enum memory_state { MEMORY_PLENTY, MEMORY_TIGHT, MEMORY_FULL };

/* UNKNOWN_U64: none. */
void memory_set_budget(uint64_t bytes);
uint64_t memory_budget(void);

/* Takes a look; `resident_bytes` 0: not known. */
void memory_look(uint64_t resident_bytes, uint64_t mono_ns);

enum memory_state memory_now(void);

/* What that means, a sentence; NULL while there is plenty. Valid until the next look. */
const char *memory_words(void);

#endif
