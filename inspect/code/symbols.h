/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - where functions and variables of the runtime are in a program's file that has no symbols. */
#ifndef HW_INSPECT_CODE_SYMBOLS_H
#define HW_INSPECT_CODE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "proto/base/error.h"

/*
 * Prints a line for each name that is found: "NAME 0xADDRESS BYTES PLACES", the address in the file, bytes of a
 * variable or 0, and how many places in code lead there. None where no signatures are of the program's libraries, with
 * a sentence on standard error. False with a sentence.
 */
bool show_symbols(const char *path, const char *const *names, size_t n, FILE *to, struct error *error);

#endif
