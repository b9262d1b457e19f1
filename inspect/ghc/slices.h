/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.h - byte arrays of which only a part is used: a slice of a ByteString or a Text, however small, keeps all of
 * the array that it was cut from.
 *
 * By the fields of ByteString (bytestring 0.10 on), of Text (text 1 and 2) and of the chunks of their lazy forms. An
 * array that anything else holds, too, such as a field that was unpacked into another constructor, is left out: how
 * much of it that uses is not known.
 */
#ifndef HW_INSPECT_GHC_SLICES_H
#define HW_INSPECT_GHC_SLICES_H

#include "inspect/ghc/snapshot.h"
#include "inspect/graph/graph.h"

/* Sums graph.slices; `places` as of reach_all(). False: out of memory. */
bool slices_find(struct heap_graph *g, const struct heap_snapshot *s, const uint64_t *places);

#endif
