/* SPDX-License-Identifier: BSD-3-Clause */
/* inspector.h - heapwatch-inspect as a child of the daemon: its memory, its last sentence, and its end. */
#ifndef HW_DAEMON_SOURCE_INSPECTOR_H
#define HW_DAEMON_SOURCE_INSPECTOR_H

#include <stdint.h>
#include <sys/types.h>

#define INSPECTOR_SENTENCE 400

/* Bytes of address space that each may need, from now on; 1 GiB at first. */
void inspector_set_memory(uint64_t bytes);

/* The same, for an argument. */
#define INSPECTOR_MEMORY 24
void inspector_print_memory(char ret[INSPECTOR_MEMORY]);

/* What it said on its standard error, a pipe whose end does not block, as a text for a terminal; "": nothing. */
void inspector_sentence(int err, char ret[INSPECTOR_SENTENCE]);

/* Ends it, if there is one, at once: it stops no program and leaves nothing. *child is 0 then. */
void inspector_end(pid_t *child);

#endif
