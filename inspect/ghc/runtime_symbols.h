/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime_symbols.h - where functions and variables of the runtime system are in a program without symbols, by the
 * signatures of its libraries: a function by its own code, and whatever that code refers to.
 */
#ifndef HW_INSPECT_GHC_RUNTIME_SYMBOLS_H
#define HW_INSPECT_GHC_RUNTIME_SYMBOLS_H

#include "inspect/ghc/signatures.h"

struct runtime_symbol {
        const char *name;
        uint64_t address;    /* 0: not found, or not at one place alone */
        uint32_t bytes;      /* of a variable; 0: not known */
        uint32_t references; /* places in code that lead there */
        bool is_contradicted;
};

/* Sets all but the names. False: out of memory. */
bool runtime_symbols_find(struct signatures *s, const struct program *p, struct runtime_symbol *symbols, size_t n);

#endif
