/* SPDX-License-Identifier: BSD-3-Clause */
/* label.h - labels of bands for display. Pure. */
#ifndef HW_DAEMON_PUBLISH_LABEL_H
#define HW_DAEMON_PUBLISH_LABEL_H

#include <stddef.h>

#include "daemon/model/bands.h"
#include "daemon/trend/growth.h"

#define LABEL_MAX 128 /* bytes of a constructed label, NUL included */

/*
 * Writes a short label of a band whose name is not a single text, and returns its length; 0
 * for all other bands, whose label is the text of the census, however long, because that is
 * published nowhere else. Raw bytes, not checked for UTF-8.
 *
 *   -hc   "Main.retain;Main.main;MAIN": innermost first; ";..." when the rest does not fit;
 *         "cc#7" for a cost centre that the log never defined
 *   -hi   "Main.retain" from the table's module and label, else its name
 */
size_t label_band(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

/* The label that rows have: the same, or the text of the census. Borrowed, from ret_label or the band. */
const char *label_of_row(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * The label of a growing band, number `i` of `g`: that of its row and, when another one of them has the same, type and
 * place of its info table: "Main.main ((,), Main.hs:16:27-67)". "?" for a band that there is not. Borrowed likewise.
 */
const char *label_of_growing(char ret_label[LABEL_MAX], const struct bands *bands, const struct growth *g, uint32_t i);

/*
 * Writes what distinguishes a band from others of the same label, in every run of the
 * same program, and returns its length; 0 when the label does so by itself.
 *
 *   -hi   the table's own name, such as "sat_s4nN_info": all closures of one function share a label
 *   -hc   "stack-1f00ba7e55aa90c3", a hash of the whole stack, when the label does not hold all of it
 */
size_t label_band_name(char ret_name[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * The name of a closure type that the compiler gave as a number: "THUNK_1_1" for "19". Anything that is not a closure
 * type of the heap is returned as it is, also NULL. The numbers are the same in GHC 8.10 to 9.12
 * (rts/storage/ClosureTypes.h).
 */
const char *label_closure_type(const char *number);

#endif
