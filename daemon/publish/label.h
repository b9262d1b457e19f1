/* SPDX-License-Identifier: BSD-3-Clause */
/* label.h - what a band is called on a screen. Pure. */
#ifndef HW_PUBLISH_LABEL_H
#define HW_PUBLISH_LABEL_H

#include <stddef.h>

#include "model/bands.h"

#define LABEL_MAX 128           /* bytes of a built label, NUL included */

/*
 * Writes a short label of a band whose name is not one text, and returns its
 * length; 0 for all other bands, which are called by the text of the census,
 * however long: it is not told anywhere else. Raw bytes, not checked UTF-8.
 *
 *   -hc   "Main.retain;Main.main;MAIN": innermost first; ";..." when the rest does not fit;
 *         "cc#7" for a cost centre that the log never defined
 *   -hi   "Main.retain" from the table's module and label, else its name
 */
size_t label_band(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band);

#endif
