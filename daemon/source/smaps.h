/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * smaps.h - resident memory of a process by kind of page, from /proc/PID/smaps, else smaps_rollup.
 *
 * The kernel walks the page tables of the program for it, holding its memory map's lock for reading (measured: 9 ms
 * per resident GiB): the caller limits how often.
 */
#ifndef HW_DAEMON_SOURCE_SMAPS_H
#define HW_DAEMON_SOURCE_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/process.h"

/*
 * Reads *ret_pages (all but wall_ns) and *ret_pss_bytes; `root` as in procfs.h. heap_bytes is unknown when no mapping
 * is recognised as the heap. False, and both unchanged, when neither file may be read.
 */
bool smaps_read(const char *root, uint32_t pid, struct resident_pages *ret_pages, uint64_t *ret_pss_bytes);

#endif
