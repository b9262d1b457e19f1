/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/code/known_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/signature_file.h"
#include "inspect/ghc/signatures.h"
#include "inspect/process/files.h"
#include "proto/base/whole_file.h"

#define LIBRARY_MOST (UINT64_C(1) << 30)

static bool add_library(struct signature_maker *m, const char *path, struct error *error)
{
        struct error why = { "" };
        size_t size;
        uint8_t *bytes = files_read_whole(path, LIBRARY_MOST, "it is larger than 1 GiB", &size, &why);
        const bool good = bytes && signature_maker_add(m, bytes, size, &why);

        free(bytes);
        return good || error_set(error, "%.500s: %.400s", path, why.text);
}

static bool write_signatures(struct signature_maker *m, const char *path, struct error *error)
{
        struct signature_table t;
        size_t size = 0;
        uint8_t *bytes = signature_maker_finish(m, &t) ? signature_file_encode(&t, &size) : NULL;
        const int r = bytes ? whole_file_write(path, (const char *)bytes, size) : -ENOMEM;

        if (r == 0)
                (void)printf("%s: %u functions and return points of %zu object files, %zu bytes\n", path, t.n_entries,
                             m->n_objects, size);
        free(bytes);
        signature_table_done(&t);
        return r == 0 || error_set(error, "%.500s: cannot be written: %s", path, strerror(-r));
}

bool make_signatures(const char *output, const char *const *libraries, size_t n, struct error *error)
{
        struct signature_maker m = { .n_objects = 0 };
        bool good = true;

        for (size_t i = 0; good && i < n; i++)
                good = add_library(&m, libraries[i], error);
        if (good && m.n_entries == 0)
                good = error_set(error, "there is no code in these libraries: name static ones, lib...a");
        good = good && write_signatures(&m, output, error);
        signature_maker_done(&m);
        return good;
}
