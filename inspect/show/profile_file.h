/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_file.h - a profile as a file for other tools. Its suffix says in which format. */
#ifndef HW_INSPECT_SHOW_PROFILE_FILE_H
#define HW_INSPECT_SHOW_PROFILE_FILE_H

#include <stdio.h>

#include "inspect/ghc/stack_profile.h"
#include "proto/base/error.h"

/* False with a sentence: the suffix is that of no format, or no file can be made there. */
bool profile_file_check(const char *path, struct error *error);

/* Replaces the file. `program`: its path; NULL: not known. False with a sentence; then an older file is untouched. */
bool profile_file_write(const char *path, const struct stack_profile *p, const char *program, struct error *error);

/* The names of a node and its callers, the innermost first; returns how many. */
size_t profile_stack(const struct time_tree *t, uint32_t id, uint32_t names[PROFILE_DEEP]);

/* In one format each, to a stream; `program`: its name, or NULL. False: out of memory. */
bool profile_write_collapsed(FILE *to, const struct stack_profile *p, const char *program);
bool profile_write_speedscope(FILE *to, const struct stack_profile *p, const char *program);
bool profile_write_svg(FILE *to, const struct stack_profile *p, const char *program);   /* flame_graph.c */
bool profile_write_pprof(FILE *to, const struct stack_profile *p, const char *program); /* pprof.c */

#endif
