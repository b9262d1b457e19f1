/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptors.h - how many descriptors this process may open, and how many it can still open.
 *
 * They are a budget: as many as the system allows. Targets are accepted only while
 * DESCRIPTORS_RESERVE are left for clients, connections only while DESCRIPTORS_KEPT are left
 * for files that are opened briefly (accept.c).
 */
#ifndef HW_DAEMON_LOOP_DESCRIPTORS_H
#define HW_DAEMON_LOOP_DESCRIPTORS_H

#include <stddef.h>

#define DESCRIPTORS_RESERVE 64u
#define DESCRIPTORS_KEPT    16u

/* Raises the soft limit of this process to its hard limit; at the start. On failure the limit stays as it was. */
void descriptors_raise(void);

/* The soft limit; SIZE_MAX: none. */
size_t descriptors_limit(void);

/*
 * About how many more can be opened now; SIZE_MAX when not known. Counts /proc/self/fd, but not each time: a count is
 * good for a second, or for a quarter as many targets as it leaves descriptors.
 */
size_t descriptors_left(void);

/* Connections that were closed at once because too few were left, since the daemon's start. */
unsigned long descriptors_refused(void);

#endif
