/* SPDX-License-Identifier: BSD-3-Clause */
/* label.h - what a band is called on a screen. Pure. */
#ifndef HW_DAEMON_PUBLISH_LABEL_H
#define HW_DAEMON_PUBLISH_LABEL_H

#include <stddef.h>

#include "daemon/model/bands.h"

#define LABEL_MAX 128 /* bytes of a built label, NUL included */

/*
 * Writes a short label of a band whose name is not one text, and returns its
 * length; 0 for all other bands, which are called by the text of the census,
 * however long: it is nowhere else. Raw bytes, not checked UTF-8.
 *
 *   -hc   "Main.retain;Main.main;MAIN": innermost first; ";..." when the rest does not fit;
 *         "cc#7" for a cost centre that the log never defined
 *   -hi   "Main.retain" from the table's module and label, else its name
 */
size_t label_band(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * Writes what distinguishes a band from others of the same label, in every run of the
 * same program, and returns its length; 0 when the label does so by itself.
 *
 *   -hi   the table's own name, such as "sat_s4nN_info": all closures of one function share a label
 *   -hc   "stack-1f00ba7e55aa90c3", a hash of the whole stack, when the label does not hold all of it
 */
size_t label_band_name(char ret_name[LABEL_MAX], const struct bands *bands, const struct band *band);

/*
 * The name of a closure type that the compiler gave as its number, "THUNK_1_1" of "19"; what is none of those that the
 * heap holds comes back as it is, NULL too. The numbers are the same in GHC 8.10 to 9.12 (rts/storage/ClosureTypes.h).
 */
const char *label_closure_type(const char *number);

#endif
