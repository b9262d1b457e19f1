/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/code/known_code.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

#include "inspect/ghc/signatures.h"
#include "inspect/process/files.h"
#include "inspect/process/live.h"
#include "proto/base/sibling.h"
#include "proto/base/text_out.h"

#define KNOWN_LEAST     (SIGNATURES_PROBES / 16)
#define SIGNATURES_MOST (UINT64_C(1) << 26)

static int has_signatures(const struct dirent *entry)
{
        return text_has_suffix(entry->d_name, SIGNATURE_FILE_SUFFIX);
}

static bool read_signatures(struct signatures *ret, const char *path)
{
        struct error why = { "" };
        size_t size;
        uint8_t *bytes = files_read_whole(path, SIGNATURES_MOST, "it is larger than 64 MiB", &size, &why);
        const bool good = bytes && signatures_decode(ret, path, bytes, size);

        if (!bytes) {
                *ret = (struct signatures){ .n_claims = 0 };
                (void)error_set(&ret->why, "%.500s: %.400s", path, why.text);
        }
        free(bytes);
        return good;
}

/* Of the files in a folder the one that is of the program's libraries: each is of those of another GHC. */
static void read_best(struct known_code *k, const struct program *p, const char *folder, struct dirent **files, int n)
{
        struct error why = { "" };
        unsigned best = 0;
        char path[PATH_MAX];

        for (int i = 0; i < n; i++) {
                struct signatures one;
                (void)text_join(path, sizeof(path), folder, "/", files[i]->d_name, NULL);
                const unsigned alike = read_signatures(&one, path) ? signatures_count(&one, p, false) : 0;
                if (one.why.text[0])
                        why = one.why;
                if (alike > best) {
                        signatures_done(&k->signatures);
                        k->signatures = one;
                        best = alike;
                } else {
                        signatures_done(&one);
                }
        }
        if (n > 0 && (best == 0 || signatures_count(&k->signatures, p, true) < KNOWN_LEAST)) {
                signatures_done(&k->signatures);
                if ((k->none_fits = !why.text[0]))
                        (void)error_set(&why, "%.500s: none of its files is of the libraries in this program", folder);
        }
        k->signatures.why = why;
}

void known_code_read(struct known_code *k, struct program *p)
{
        struct dirent **files = NULL;
        char path[PATH_MAX];

        *k = (struct known_code){ .signatures = { .n_claims = 0 } };
        p->provenance = &k->provenance;
        if (p->has_symbols || !sibling_signatures(path, sizeof(path)))
                return;
        const int n = scandir(path, &files, has_signatures, alphasort);
        if (n >= 0)
                read_best(k, p, path, files, n);
        else
                (void)read_signatures(&k->signatures, path);
        for (int i = 0; i < n; i++)
                free(files[i]);
        free(files);
        (void)malloc_trim(0); /* what the other files needed: some inspections last as long as the program */
        p->signatures = &k->signatures;
}

void known_code_done(struct known_code *k)
{
        signatures_done(&k->signatures);
        provenance_done(&k->provenance);
}

/* ---------------------------------------------------------------- symbols of a stripped program */

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
