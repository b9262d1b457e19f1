/* SPDX-License-Identifier: BSD-3-Clause */
/* sibling.h - the other programs that were installed together with this one. */
#pragma once

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit status of heapwatch-inspect when the kernel does not let it read or stop the process. */
#define INSPECT_REFUSED 3

/* A line on its standard error that is no reason of a failure: it is said at once. */
#define INSPECT_NOTE "note: "

/* Environment of `threads`: the labels that the log has of threads, lines of NUMBER=LABEL. */
#define INSPECT_LABELS "HEAPWATCH_THREAD_LABELS"

#define INSPECT_PAUSE_MOST_NS UINT64_C(60000000000) /* --max-pause */

/* The program `name` beside the one that runs; else the bare name, for PATH. */
void sibling_program(const char *name, char *ret_path, size_t size);

/* The readable file `name` as seen from the folder of the program that runs. False: there is none. */
bool sibling_file(const char *name, char *ret_path, size_t size);

/* Signatures of library code, a file or a folder of several: HEAPWATCH_SIGNATURES, else those that are installed. */
bool sibling_signatures(char *ret_path, size_t size);
