/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h - one budget of memory for the whole daemon.
 *
 * What counts is what the kernel counts: the resident size, read once a second,
 * and the more often the less is left, as programs' bytes come in: a hostile log
 * takes 40 MiB in half a second.
 * Above MEMORY_TIGHT_PCT of the budget the targets that hold more than their
 * share get no new bands (they are counted as left out): one hostile program
 * does not take them from all. Above MEMORY_FULL_PCT no target gets any, and new
 * targets are refused, until it is MEMORY_BACK_PCT lower. What clients may take
 * is a part of it: daemon/publish/transport/quotas.h. Freed memory goes back to the kernel, at most every
 * MEMORY_TRIM_NS.
 *
 * One budget per process; called by the loop's thread only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_TIGHT_PCT 80u
#define MEMORY_FULL_PCT  95u
#define MEMORY_BACK_PCT  5u
#define MEMORY_TRIM_NS   UINT64_C(5000000000)

enum memory_state { MEMORY_PLENTY, MEMORY_TIGHT, MEMORY_FULL };

/* How malloc is to behave; once, before anything large is allocated. */
void memory_begin(void);

/* UNKNOWN_U64: none. */
void memory_set_budget(uint64_t bytes);
uint64_t memory_budget(void);

/* Updates the state; `resident_bytes` 0: unknown. */
void memory_update_usage(uint64_t resident_bytes, uint64_t mono_ns);

enum memory_state memory_now(void);

/* Counts bytes of programs that were read. True: so many that it is time for another memory_update_usage. */
bool memory_is_due(size_t read_bytes);

/* How many targets share the budget. */
void memory_set_targets(size_t n);

/* Whether a target that holds `bytes` gets no new bands now. */
bool memory_closes(size_t bytes);

/* What that means, a sentence; NULL while there is plenty. Valid until the next memory_update_usage. */
const char *memory_words(void);
