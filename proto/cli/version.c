/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/cli/version.h"

void (*version_print_more)(FILE *to);

void version_print(FILE *to, const char *program)
{
        (void)fprintf(to, "%s %s\n", program, HEAPWATCH_VERSION);
        if (version_print_more)
                version_print_more(to);
}

void version_print_details(FILE *to, const struct version_details *details)
{
        if (details->commit[0])
                (void)fprintf(to, "commit: %s\n", details->commit);
        for (size_t i = 0; i < details->n_libraries; i++)
                (void)fprintf(to, "%s %s %s", i ? "," : "libraries:", details->libraries[i].name,
                              details->libraries[i].release);
        (void)fprintf(to, "%sGHC: %s\n", details->n_libraries ? "\n" : "", details->ghc);
}
