/* SPDX-License-Identifier: BSD-3-Clause */
/* coredump.h - the core files that systemd-coredump keeps: which one is of a program, or was of a process. */
#ifndef HW_CLIENT_COMMANDS_COREDUMP_H
#define HW_CLIENT_COMMANDS_COREDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

#define COREDUMP_PREFIX    "coredump:" /* in place of a file's name: coredump:api, coredump:4711 */
#define COREDUMP_DIRECTORY "/var/lib/systemd/coredump"

struct coredump {
        char path[512];
        uint64_t time_us; /* of the crash, since 1970 */
};

/*
 * The newest one in a directory: of a process with that number, or of a program whose name, as the kernel cuts it, is
 * that. False with a sentence.
 */
bool coredump_find(const char *directory, const char *which, struct coredump *ret, struct error *error);

#endif
