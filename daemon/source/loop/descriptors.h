/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptors.h - how many descriptors this process may open, and how many it can still open.
 *
 * They are a budget: as many as the system allows. A target is accepted only when with all that targets may open
 * DESCRIPTORS_RESERVE are left for clients and DESCRIPTORS_KEPT for files that are opened briefly; connections only
 * while the latter are left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DESCRIPTORS_RESERVE 64u
#define DESCRIPTORS_KEPT    16u

#define DESCRIPTORS_PASSED_FIRST 3 /* SD_LISTEN_FDS_START */

/* How many the service manager has passed, from DESCRIPTORS_PASSED_FIRST on: sd_listen_fds(3). */
unsigned descriptors_passed(void);

/* Whether it is a socket that listens. */
bool descriptors_is_listener(int fd);

/*
 * About how many more can be opened; SIZE_MAX when not known. `promised`: how many the targets may have open, whether
 * they do or not; to be called with 0 before the first target. Counts /proc/self/fd, at most once a second.
 */
size_t descriptors_left(size_t promised);

/*
 * Accepts a connection while so many `more` descriptors than its own are left besides those that are kept; else it is
 * closed at once, so that the peer sees an end of file and tries again, and the listener does not spin. Returns a
 * descriptor, or -1: nobody waited, or it was closed. By one thread at a time.
 */
int descriptors_accept(int listener, size_t more);

/* Connections that were closed at once because too few were left, since the daemon's start. */
unsigned long descriptors_refused(void);
