/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof.h - a profile in pprof's format (profile.proto in gzip), which goes to a stream while it is made.
 *
 * Parts may come in any order, but types in that of the values. Texts are copied; they should be UTF-8. What goes wrong
 * is kept until pprof_close() tells it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pprof;

/* `to` is borrowed. NULL when out of memory. */
struct pprof *pprof_new(FILE *to);
void pprof_destroy(struct pprof **p);

/* What the next value of all samples is: "cpu", "nanoseconds". */
void pprof_add_type(struct pprof *p, const char *type, const char *unit);

/* A sample is taken each so many `unit` of `type`. */
void pprof_set_period(struct pprof *p, const char *type, const char *unit, uint64_t period);

/* Unix time, and for how long; 0: unknown. */
void pprof_set_time(struct pprof *p, uint64_t wall_ns, uint64_t duration_ns);
void pprof_add_comment(struct pprof *p, const char *text);

/* A function, by a number from 1. `file` NULL, `line` 0: unknown. */
void pprof_add_function(struct pprof *p, uint32_t number, const char *name, const char *file, uint32_t line);

/* The functions of a stack, innermost first, and a value for each type. `time_ns`: as a label; UINT64_MAX: none. */
void pprof_add_sample(struct pprof *p, const uint32_t *functions, size_t n, const uint64_t *values, size_t n_values,
                      uint64_t time_ns);

uint64_t pprof_samples(const struct pprof *p);

/* Completes the profile; of one without any part nothing is written. 0, or the first error as -errno. */
int pprof_close(struct pprof *p);
