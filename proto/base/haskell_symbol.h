/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haskell_symbol.h - what the symbol of an info table names. Pure.
 *
 *     containerszm0zi6zi7_DataziMapziInternal_Bin_con_info   containers-0.6.7:Data.Map.Internal, Bin
 *     base_GHCziBase_zdfMonadIO_info                         base:GHC.Base, $fMonadIO
 *     Main_zdwloop_s4nN_info                                 Main, $wloop: the program's own package has no name
 *     stg_ARR_WORDS_info                                     no module, ARR_WORDS: closures of the runtime system
 *
 * The same texts as a heap profile by closure type has.
 */
#pragma once

#include <stdbool.h>

#define SYMBOL_BYTES 512u /* of a symbol, NUL included: a longer one is not decoded */

struct haskell_symbol {
        char module[SYMBOL_BYTES]; /* with its package, if that is known; "" */
        char name[SYMBOL_BYTES];
};

/* Whether it is the symbol of an info table at all. */
bool haskell_symbol_is_table(const char *symbol);

/* False when the text is not encoded as GHC does it: *ret is undefined. */
bool haskell_symbol_decode(struct haskell_symbol *ret, const char *symbol);
