/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provenance.h - where in the source the code of an info table is: what -finfo-table-map (GHC 9.2 and later) puts into
 * a program's data, a node for each module: the addresses of its tables, an entry for each, and the texts of all. A
 * stripped program has it, too.
 */
#ifndef HW_INSPECT_GHC_PROVENANCE_H
#define HW_INSPECT_GHC_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/memory/program.h"

struct provenance_node;

struct provenance {
        struct error why; /* what was found but could not be used; "" */
        bool searched;
        struct provenance_node *nodes; /* by their lowest address of code */
        size_t n;
        uint64_t entries; /* of all */
        size_t kept_bytes;
};

/* Texts as GHC wrote them, of any bytes; "" where it wrote none. Borrowed until provenance_done(). */
struct provenance_entry {
        const char *table;  /* its symbol: "sessions_r1BI_info" */
        const char *type;   /* "IORef (Map Int Session)" */
        const char *label;  /* the binding that it is in: "main.sessions" */
        const char *module; /* "Main" */
        const char *file, *span;
};

/* Finds the nodes, once; their entries are read when they are wanted. Without any, nothing is found later on. */
void provenance_search(struct provenance *v, const struct program *p);

/* Of the info table at an address, as closures have it. False: it has none. */
bool provenance_find(struct provenance *v, const struct program *p, uint64_t at, struct provenance_entry *ret);

void provenance_done(struct provenance *v);

#endif
