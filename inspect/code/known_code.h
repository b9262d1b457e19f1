/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known_code.h - what is known of a program's code beside its symbols: its places in the source, which it may have
 * itself (provenance.h), and for one without symbols the names of library code, by signatures (signatures.h) of
 * HEAPWATCH_SIGNATURES, a file or a folder of several, else of those that are installed.
 */
#ifndef HW_INSPECT_CODE_KNOWN_CODE_H
#define HW_INSPECT_CODE_KNOWN_CODE_H

#include "inspect/ghc/provenance.h"
#include "inspect/ghc/signatures.h"
#include "inspect/memory/program.h"

struct known_code {
        struct signatures signatures;
        bool none_fits; /* all signatures were read, and are of other libraries than the program's */
        struct provenance provenance;
};

/* The program refers to it from now on; known_code_done() after it was closed. What is wrong is in each `why`. */
void known_code_read(struct known_code *k, struct program *p);
void known_code_done(struct known_code *k);

#endif
