/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signatures.h - finds what code in a program without symbols is, by signatures of the libraries that it may have been
 * linked from. Where code of several names is alike, what it refers to decides; where that does not either, what is
 * around it makes one of them probable, or it has no name.
 */
#pragma once

#include "inspect/ghc/signature_file.h"
#include "inspect/memory/program.h"
#include "proto/base/idtable.h"

struct signature_range {
        uint32_t from, end; /* entries */
};

struct signature_claims;
struct signature_found;

struct signatures {
        struct error why; /* why there are none; "" */
        char file[64];    /* where they are from, without its folder */
        struct signature_table table;
        struct signature_claims *claims; /* of addresses that were looked up */
        uint32_t n_claims;
        struct idtable claim_ids;         /* by address */
        struct signature_found *probable; /* of claims that have no sure name */
        uint32_t n_probable;
        uint64_t text_at; /* the text that was read last */
        uint32_t text_hash;
};

/* Of the bytes of a file. False: they have none, and `why` says it. signatures_done() in any case. */
bool signatures_decode(struct signatures *s, const char *path, const uint8_t *bytes, size_t size);
void signatures_done(struct signatures *s);

enum signature_match {
        SIGNATURE_NONE,
        SIGNATURE_SYMBOL, /* the symbol that the code is in */
        SIGNATURE_LOCAL,  /* it is in none; this is the symbol behind it, of the same module */
        SIGNATURE_MODULE  /* it may be one of several; this is the symbol of one, and all have its module */
};

struct signature_found {
        enum signature_match match;
        bool is_probable;    /* by what is around it: it may be another one */
        const char *symbol;  /* for SIGNATURE_LOCAL with something after a '.' */
        uint32_t candidates; /* that were not contradicted */
        uint32_t neighbours; /* what is beside it in the library is beside it here: up to 8 of them */
        uint32_t unit, size; /* that code, with what the linker keeps together with it */
        uint64_t start;
};

/* Whether a unit is at an address: its bytes, and no reference that leads somewhere else. */
bool signatures_unit_at(struct signatures *s, const struct program *p, uint64_t start, uint32_t unit);

/* Whether the code at an address may have this name, a place in the texts. */
bool signatures_may_be(struct signatures *s, const struct program *p, uint64_t address, uint32_t name);

/* The address that a reference of a unit leads to. False: it is not known, or nowhere. */
bool signatures_target(const struct program *p, uint64_t start, const struct signature_relocation *r, uint64_t *ret);

struct signature_found signatures_find(struct signatures *s, const struct program *p, uint64_t address);

/* Of SIGNATURES_PROBES places spread over the program: how many have a name, or only bytes like code in the table. */
#define SIGNATURES_PROBES 128u
unsigned signatures_count(struct signatures *s, const struct program *p, bool named);

/*
 * runtime_symbols.c: where functions and variables of the runtime system are in a program without symbols, by the
 * signatures of its libraries: a function by its own code, and whatever that code refers to.
 */

struct runtime_symbol {
        const char *name;
        uint64_t address;    /* 0: not found, or not at one place alone */
        uint32_t bytes;      /* of a variable; 0: not known */
        uint32_t references; /* places in code that lead there */
        bool is_contradicted;
};

/* Sets all but the names. False: out of memory. */
bool runtime_symbols_find(struct signatures *s, const struct program *p, struct runtime_symbol *symbols, size_t n);

/* signature_maker.c: makes signatures of the code in static libraries. */

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
