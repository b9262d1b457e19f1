/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/graph/graph.h"

#include <stdlib.h>

void heap_band_forget_contents(struct heap_band *b)
{
        for (size_t i = 0; i < b->n_contents; i++)
                free(b->contents[i].name);
        free(b->contents);
        b->contents = NULL;
        b->n_contents = 0;
}

void heap_bands_done(struct heap_bands *b)
{
        for (size_t i = 0; i < b->n; i++) {
                heap_band_forget_contents(&b->items[i]);
                free(b->items[i].name);
        }
        free(b->items);
        *b = (struct heap_bands){ NULL, 0 };
}
