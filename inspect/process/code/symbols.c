/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/code/known_code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "inspect/ghc/signatures.h"
#include "inspect/process/live.h"

static bool find_symbols(struct known_code *known, const struct program *p, struct runtime_symbol *symbols, size_t n,
                         struct error *error)
{
        if (p->has_symbols)
                return error_set(error, "it is not stripped: its symbols are in its file");
        if (known->none_fits)
                return fprintf(stderr, "%s\n", known->signatures.why.text) > 0;
        if (!known->signatures.table.n_units)
                return error_set(error, "%s",
                                 known->signatures.why.text[0] ? known->signatures.why.text
                                                               : "there are no signatures here");
        return runtime_symbols_find(&known->signatures, p, symbols, n) || error_set(error, "out of memory");
}

bool show_symbols(const char *path, const char *const *names, size_t n, FILE *to, struct error *error)
{
        struct runtime_symbol *symbols = calloc(n + 1, sizeof(*symbols));
        struct known_code known;
        struct core image;
        bool good = symbols ? core_open_image(&image, path, error) : error_set(error, "out of memory");

        if (!good) {
                free(symbols);
                return false;
        }
        for (size_t i = 0; i < n; i++)
                symbols[i].name = names[i];
        known_code_read(&known, &image.program);
        good = find_symbols(&known, &image.program, symbols, n, error);
        for (size_t i = 0; i < n && good; i++)
                if (symbols[i].address)
                        (void)fprintf(to, "%s 0x%" PRIx64 " %" PRIu32 " %" PRIu32 "\n", symbols[i].name,
                                      symbols[i].address, symbols[i].bytes, symbols[i].references);
        core_close(&image);
        known_code_done(&known);
        free(symbols);
        return good;
}
