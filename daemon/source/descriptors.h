/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptors.h - how many descriptors this process may open, and how many it can still open.
 *
 * libzmq ends the process when it cannot accept a connection for want of a
 * descriptor. So the daemon takes as many as the system allows, and accepts
 * targets only while DESCRIPTORS_RESERVE are left for clients.
 */
#ifndef HW_DAEMON_SOURCE_DESCRIPTORS_H
#define HW_DAEMON_SOURCE_DESCRIPTORS_H

#include <stddef.h>

/* Raises the soft limit of this process to its hard limit; at the start. What fails leaves it as it was. */
void descriptors_raise(void);

/* The limit, in descriptors. SIZE_MAX: none. */
size_t descriptors_limit(void);

/* How many more can be opened now; SIZE_MAX when not known. Counts /proc/self/fd: for rare calls. */
size_t descriptors_left(void);

#endif
