/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * texts.h - what the runtime writes as text beside its eventlog, converted to an equivalent eventlog: heap profiles
 * (.hp), and profiles as JSON (`-pj`). So whatever reads a log reads them too.
 *
 * Text goes in by pieces of any size, bytes of an eventlog come out. A line that cannot be read is skipped and
 * counted; what is not in the text is not in the log. Pure: no descriptor, no clock.
 *
 * Of a heap profile: its program and options (JOB), censuses, marks. Its times are the program's own (mutator CPU
 * seconds), not those of a clock, and its date has no seconds, so the log has no wall time.
 * Of -pj: ticks by cost-centre stack, allocated bytes in all and by cost centre; the times of ticks are made up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum text_kind { TEXT_NONE, TEXT_HP, TEXT_PROF };

/* By its first bytes; 4 KiB are enough. */
enum text_kind text_kind_of(const void *beginning, size_t n);

struct text_log;

/* NULL when out of memory. */
struct text_log *text_log_new(enum text_kind kind);
void text_log_destroy(struct text_log **t);

/*
 * Takes text until all is taken or there is output, which has to be fetched first. Returns how much was taken.
 */
size_t text_log_parse(struct text_log *t, const char *text, size_t n);

/* No more text follows. The last line may lack its line feed. */
void text_log_end(struct text_log *t);

/* Bytes of text that say nothing, beyond those that do, after which the rest is not worth reading. */
#define TEXT_IDLE_BYTES (64u << 20)

/* Whether so many were taken: blank, not readable, or after the text's end. */
bool text_log_is_idle(const struct text_log *t);

/* Moves bytes of the eventlog to `out`; returns their number, 0: more text is needed, or after the end nothing. */
size_t text_log_fetch(struct text_log *t, void *out, size_t size);

/* Lines that could not be read; of the first, its number from 1 and what was expected there. */
struct text_damage {
        uint64_t lines, first;
        const char *expected;
};

const struct text_damage *text_log_damage(const struct text_log *t);
