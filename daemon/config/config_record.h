/* SPDX-License-Identifier: BSD-3-Clause */
/* config_record.h - the flight recorder: where recordings are stored and how much of them is kept. */
#ifndef HW_DAEMON_CONFIG_CONFIG_RECORD_H
#define HW_DAEMON_CONFIG_CONFIG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

#define CONFIG_RECORD_TOTAL  (UINT64_C(4) << 30) /* bytes of all recordings */
#define CONFIG_RECORD_TARGET (UINT64_C(1) << 30) /* of one target */
#define CONFIG_RECORD_FOR    (7 * 24 * UINT64_C(3600000000000))
#define CONFIG_RECORD_FREE   (UINT64_C(1) << 30) /* left free on the disk */
#define CONFIG_RECORD_PATH   1024u

/* Empty directory: nothing is recorded. Other fields 0: not given. */
struct config_record {
        char directory[CONFIG_RECORD_PATH];
        uint64_t total_bytes, target_bytes, for_ns, free_bytes;
        bool no_bundles; /* the built-in rules keep none when a program leaks or crashes */
};

/*
 * Takes one setting as typed: "directory", "total", "per_target", "time", "free" or "bundles". False with what is wrong
 * in `error`, to be shown after the setting's name.
 */
bool config_record_set(struct config_record *c, const char *setting, const char *value, struct error *error);

/* Copies what is set in `given` and not yet in c. */
void config_record_add(struct config_record *c, const struct config_record *given);

/* Sets the rest to its defaults. */
void config_record_fill(struct config_record *c);

#endif
