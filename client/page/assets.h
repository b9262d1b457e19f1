/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assets.h - the built page, embedded in the program (assets.S): one file for
 * the server and for reports.
 */
#pragma once

#include <stddef.h>

/* The line of the page that a report's policy and data replace. */
#define PAGE_MARKER "<!--heapwatch-data-->"

#define PAGE_MISSING "this heapwatch was built without the browser page; install nodejs and npm and build again"

/* HTML in UTF-8, and its size in bytes: 0 when this program was built without Node. */
const char *page_text(void);
size_t page_size(void);

/* What a Content-Security-Policy must allow for the page: "script-src ...; style-src ...", or "" without one. */
const char *page_policy(void);
