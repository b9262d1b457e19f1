/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.h - whether a disk that has refused something takes data again. */
#ifndef HW_DAEMON_RECORD_PROBE_H
#define HW_DAEMON_RECORD_PROBE_H

#include <stdbool.h>

struct error;

/* Writes a file of PROBE_BYTES into the directory, and removes it. False with the reason. May wait for the disk. */
bool probe_write(const char *directory, struct error *error);

#endif
