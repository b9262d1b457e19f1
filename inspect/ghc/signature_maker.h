/* SPDX-License-Identifier: BSD-3-Clause */
/* signature_maker.h - makes signatures of the code in static libraries. */
#ifndef HW_INSPECT_GHC_SIGNATURE_MAKER_H
#define HW_INSPECT_GHC_SIGNATURE_MAKER_H

#include "inspect/ghc/signature_file.h"
#include "proto/base/idtable.h"

struct made_name;

struct signature_maker {
        struct signature_unit *units;             /* whose `relocations` is an index of those below */
        struct signature_entry *entries;          /* whose `name` is an id */
        struct signature_relocation *relocations; /* whose `name` is an id; 0: none */
        struct made_name *names;                  /* by id, less 1 */
        size_t n_units, n_entries, n_relocations, n_names;
        struct idtable ids;
        size_t n_objects;
};

/* A zeroed maker is empty. */
void signature_maker_done(struct signature_maker *m);

/* An archive, or one object file. False with a sentence; what was read until then counts. */
bool signature_maker_add(struct signature_maker *m, const uint8_t *bytes, size_t n, struct error *error);

/* What can be looked up. signature_table_done() in any case. False: out of memory, or too much for one file. */
bool signature_maker_finish(struct signature_maker *m, struct signature_table *ret);

#endif
