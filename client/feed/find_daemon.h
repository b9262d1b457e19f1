/* SPDX-License-Identifier: BSD-3-Clause */
/* find_daemon.h - the heapwatchd that belongs to this program. */
#ifndef HW_CLIENT_FEED_FIND_DAEMON_H
#define HW_CLIENT_FEED_FIND_DAEMON_H

#include <stddef.h>

/* The daemon beside this program; else its bare name, for PATH. */
void find_daemon(char *ret_path, size_t size);

#endif
