/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h - the built page with the data of a report in it. */
#ifndef HW_CLIENT_REPORT_PAGE_H
#define HW_CLIENT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the page with the data, which are JSON. 0, or -ENOTSUP when the page has no place for it. */
int page_write(FILE *to, const char *data);

/*
 * Whether a file is a report that heapwatch wrote, as a page or as data alone, or does not exist: only such a file is
 * overwritten without --force.
 */
bool page_may_replace(const char *path);

#endif
