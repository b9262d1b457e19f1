/* SPDX-License-Identifier: BSD-3-Clause */
/* replaceable.h - whether a file is a report that heapwatch wrote: only those are overwritten without --force. */
#ifndef HW_CLIENT_REPORT_REPLACEABLE_H
#define HW_CLIENT_REPORT_REPLACEABLE_H

#include <stdbool.h>

/* True also when there is no such file. */
bool report_may_replace(const char *path);

#endif
