/* SPDX-License-Identifier: BSD-3-Clause */
/* cautions.h - reasons to trust a comparison less: sentences for every output. */
#ifndef HW_CLIENT_DIFF_CAUTIONS_H
#define HW_CLIENT_DIFF_CAUTIONS_H

#include "client/diff/compare.h"

#define CAUTION_MAX 512u

/* Calls `say` with each; `text` is valid until it returns. */
void cautions(const struct comparison *c, void (*say)(void *ctx, const char *text), void *ctx);

#endif
