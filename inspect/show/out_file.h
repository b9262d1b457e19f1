/* SPDX-License-Identifier: BSD-3-Clause */
/* out_file.h - files that a command writes, whose suffix is their format. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "inspect/ghc/stack_profile.h"
#include "inspect/ghc/graph/graph.h"
#include "proto/base/error.h"

/* Which of the suffixes the path ends with; -1: none. */
int out_file_suffix(const char *path, const char *const *suffixes);

/* Whether a file can be made there, with one of these; later it would be too late to say so. False with a sentence. */
bool out_file_check(const char *path, const char *const *suffixes, struct error *error);

/* profile_file.c: a profile as a file for other tools. Its suffix says in which format. */

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

/* graph_file.c: graphs in files: NAME.heapgraph, and NAME.heapsnapshot for viewers of other runtimes' heaps. */

/* Before anything is inspected: whether it can be written later. False with a sentence. */
bool graph_file_check(const char *path, struct error *error);
bool graph_file_write(const char *path, const struct heap_graph *g, struct error *error);

/* Whether a file begins as those do that graph_file_decode() reads. */
bool graph_file_is(const char *path);

/* As V8's heap snapshots, which the developer tools of Chromium open. */
void graph_write_heapsnapshot(FILE *to, const struct heap_graph *g);
