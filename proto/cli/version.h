/* SPDX-License-Identifier: BSD-3-Clause */
/* version.h - what `--version` prints: the release, then what a report of a bug should tell of this program. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Whose eventlogs are read. */
#define EVENTLOG_RELEASES "eventlogs of 7.0 to 10.0"

/* A library and the release that is loaded now, which need not be the one that the program was built with. */
struct library_version {
        const char *name, *release;
};

struct version_details {
        const char *commit;                      /* of the sources; "": not known */
        const struct library_version *libraries; /* n_libraries of them */
        size_t n_libraries;
        const char *ghc; /* the releases of GHC that it knows, in words */
};

/* `PROGRAM VERSION`, and what version_print_more adds. */
void version_print(FILE *to, const char *program);

/* A line for each of the details. */
void version_print_details(FILE *to, const struct version_details *details);

/* Prints the details of this program after the first line of `--version`. main() sets it; NULL: nothing is printed. */
extern void (*version_print_more)(FILE *to);
