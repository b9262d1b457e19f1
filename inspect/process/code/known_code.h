/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known_code.h - what is known of a program's code beside its symbols: its places in the source, which it may have
 * itself (provenance.c), and for one without symbols the names of library code, by signatures (signatures.h) of
 * HEAPWATCH_SIGNATURES, a file or a folder of several, else of those that are installed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "inspect/ghc/names.h"
#include "inspect/ghc/signatures.h"
#include "inspect/memory/program.h"
#include "proto/base/error.h"

struct known_code {
        struct signatures signatures;
        bool none_fits; /* all signatures were read, and are of other libraries than the program's */
        struct provenance provenance;
};

/* The program refers to it from now on; known_code_done() after it was closed. What is wrong is in each `why`. */
void known_code_read(struct known_code *k, struct program *p);
void known_code_done(struct known_code *k);

/* make.c: `heapwatch-inspect signatures`: a file of signatures, made of static libraries. */

/* Writes `output`, and prints what it has. False with a sentence. */
bool make_signatures(const char *output, const char *const *libraries, size_t n, struct error *error);

/* Where functions and variables of the runtime are in a program's file that has no symbols. */

/*
 * Prints a line for each name that is found: "NAME 0xADDRESS BYTES PLACES", the address in the file, bytes of a
 * variable or 0, and how many places in code lead there. None where no signatures are of the program's libraries, with
 * a sentence on standard error. False with a sentence.
 */
bool show_symbols(const char *path, const char *const *names, size_t n, FILE *to, struct error *error);
