/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_names.h - names of info tables that the program itself does not describe.
 *
 * A heap profile by info table (-hi) gives addresses. What they are is described by events of the log only for modules
 * that were compiled with -finfo-table-map, which Debian's libraries and the runtime are not. The others have symbols
 * in the program's file: those that occur in a census are looked up there and described by such events, too, so that
 * they are in what is recorded. Their place in the source is unknown: it says TABLE_NAMES_PLACE instead.
 *
 * The file is read in pieces with a table of addresses in hand, so nothing is mapped or kept of it. One thread only.
 */
#ifndef HW_AGENT_TABLE_NAMES_H
#define HW_AGENT_TABLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

struct chunk;

/* As GHC writes "<entire-module>" where it knows no line. */
#define TABLE_NAMES_PLACE "<symbol table>"

struct table_name {
        uint64_t key;     /* as in the census: the table's address */
        uint32_t name_at; /* in the file's table of names; 0: none found */
        bool ambiguous;   /* several symbols are there */
};

struct table_names {
        uint64_t *seen; /* those that have occurred: a hash table of `room` places, 0: free */
        size_t count, room;
        struct table_name *pending; /* in order of their addresses once they are looked up */
        size_t n_pending, pending_room;
};

void table_names_reset(struct table_names *t);

/* The label of a band: "0x4a6500". Anything else is ignored. */
void table_names_see(struct table_names *t, const char *label, size_t size);

/* There is a description of this one: it is not looked up. After table_names_sort. */
void table_names_sort(struct table_names *t);
void table_names_known(struct table_names *t, uint64_t key);

/*
 * Looks the pending ones up in the file at `path`, which was loaded at `bias`, and has `send` given blocks of
 * definitions of capability 0 and of the time at_ns; afterwards none is pending. False with a sentence when the file
 * cannot be read or has no symbol table.
 */
bool table_names_find(struct table_names *t, const char *path, uintptr_t bias, bool profiled, uint64_t at_ns,
                      void (*send)(struct chunk *c), struct error *error);

/* In the child of a fork(2): the file that the parent may just have had open is closed. */
void table_names_fork_child(void);

#endif
