/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print.h - the look of a summary's text, after `+RTS -s`: an exact number at
 * the left, right-aligned, then words, then the same for people.
 */
#ifndef HW_CLIENT_SUMMARY_PRINT_H
#define HW_CLIENT_SUMMARY_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "client/state/facts.h"
#include "heapwatch/text.h"

/* "   1,249,903,104 bytes allocated in the heap              1.16 GiB"; nothing if unknown. */
void print_bytes_row(FILE *to, bool known, uint64_t bytes, const char *words);

/* The same of a fact. */
void print_fact_row(FILE *to, const struct world_target *t, enum fact id, const char *words);

/* Text from the program, safe for a terminal and cut to its buffer. Returns the buffer. */
const char *print_safe(char *out, size_t size, const char *text);

/* "s" unless n is 1. */
const char *plural(uint64_t n);

#endif
