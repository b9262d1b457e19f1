/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.h - texts as cells of CSV (RFC 4180), the same in every file that heapwatch writes. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether a spreadsheet would compute the text: it begins with = + - @. It gets an apostrophe in front. */
bool csv_is_formula(const char *text);

/*
 * The text as one cell: control characters are made visible, so that a row is one line, and a formula is none, for it
 * is the program's. To be freed; NULL: no memory.
 */
char *csv_cell(const char *text);

/* Prints it. False: no memory, and nothing is printed. */
bool csv_print(FILE *to, const char *text);
