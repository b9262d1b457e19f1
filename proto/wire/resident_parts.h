/* SPDX-License-Identifier: BSD-3-Clause */
/* resident_parts.h - the six parts of resident memory in their order, with the words that all faces use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"

enum { RESIDENT_PARTS_N = 6 };

/* "kept by the runtime": the label of the part's series. */
const char *resident_part_name(size_t i);

/* Bytes of part `i`; false when it is not known, or `r` is NULL. */
bool resident_part_bytes(const Hw__Resident *r, size_t i, uint64_t *ret_bytes);

/*
 * "RSS 296 MiB: live data 18.2 KiB, slop and copy reserve 4.98 MiB, ...", 512 bytes at most. Parts that are not known
 * are named together with what they hold. Returns `out`; "" when `r` has no RSS.
 */
char *resident_text(char *out, size_t size, const Hw__Resident *r);

/* "; mapped: /srv/db 1.24 GiB, ...": the files that are much of RSS. Returns `out`; "" when there is none. */
char *resident_files_text(char *out, size_t size, const Hw__Resident *r);
