/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.h - what code is called in the source. A wrong name is worse than none: it comes from a symbol, from the
 * program's own table of places in the source (provenance.c), in a program without symbols from a signature
 * (signatures.h), or there is none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/info_tables.h"
#include "inspect/memory/program.h"

enum name_kind {
        NAME_EXACT,  /* of the symbol that the address is in */
        NAME_SOURCE, /* of the binding in the source that it is a part of: "Main.main.sessions" */
        NAME_LOCAL,  /* it has none; what is returned is its module: "Main" */
        NAME_NONE    /* the file and the place in it: "server+0x4012f0" */
};

/* Behind a name that is only probable (signatures.h), wherever it is: "base:GHC.IO.bracket1 (probably)". */
#define NAME_PROBABLY " (probably)"
bool name_is_probable(const char *name);

/* "Main.$wloop", "base:GHC.Conc.Sync.fork"; always a text without control characters. */
enum name_kind name_of_code(const struct program *p, uint64_t address, char *ret, size_t size);

/*
 * The same for all addresses of a function: "Main.heavy"; "Main (local, before heavy)" of code without a symbol, by the
 * one behind it; "server+0x4012f0", by the table in front of it; "libc.so.6" of C code elsewhere.
 */
void name_of_function(struct info_tables *t, uint64_t address, char *ret, size_t size);

/* In place of those of C that are missing in a stack. */
#define NAMES_OF_C_UNKNOWN "(C functions that are not known)"

/* Of a function in C, by where it begins: "deflate", "libz.so.1+0x4010". */
void name_of_c_function(const struct program *p, uint64_t address, char *ret, size_t size);

/* Of an info table, where its code is in the source: "Main.hs:31:19-54"; "": not known. */
#define NAME_SOURCE_BYTES 256u
void name_of_source(const struct program *p, uint64_t table, char ret[NAME_SOURCE_BYTES]);

/* Of an info table, what its closures are, or their values: "[Session]", cut after 40 bytes; "": not known. */
#define NAME_TYPE_BYTES 48u
void name_of_type(const struct program *p, uint64_t table, char ret[NAME_TYPE_BYTES]);

/* Of a closure that does not move: "Main.sessions". */
enum name_kind name_of_static(const struct program *p, uint64_t address, char *ret, size_t size);

/* Whether a name without its package is one of the runtime's own code and frames, which say nothing of a program. */
bool name_is_of_runtime(const char *name);

/* The same without its package. Borrowed from `name`. */
const char *name_without_package(const char *name);

/*
 * provenance.c: where in the source the code of an info table is: what -finfo-table-map (GHC 9.2 and later) puts into
 * a program's data, a node for each module: the addresses of its tables, an entry for each, and the texts of all. A
 * stripped program has it, too.
 */

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
