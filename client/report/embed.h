/* SPDX-License-Identifier: BSD-3-Clause */
/* embed.h - the built page with data in it. */
#ifndef HW_CLIENT_REPORT_EMBED_H
#define HW_CLIENT_REPORT_EMBED_H

#include <stdio.h>

/*
 * Writes the page with its policy and `data` (JSON) in place of its marker, safe inside a script element. 0, or
 * -ENOTSUP when this program's page has no marker. Errors of the stream stay in it.
 */
int embed_data(FILE *to, const char *data);

#endif
