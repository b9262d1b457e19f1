/* SPDX-License-Identifier: BSD-3-Clause */
/* config_checkpoint.h - where the daemon keeps its state across restarts, and how old that may be. */
#ifndef HW_DAEMON_CONFIG_CONFIG_CHECKPOINT_H
#define HW_DAEMON_CONFIG_CONFIG_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

#define CONFIG_CHECKPOINT_EVERY (20 * UINT64_C(1000000000))
#define CONFIG_CHECKPOINT_PATH  1024u

/* Empty directory: nothing is kept. every_ns 0: not given. */
struct config_checkpoint {
        char directory[CONFIG_CHECKPOINT_PATH];
        uint64_t every_ns;
};

/*
 * Takes one setting as typed: "directory" or "every" (100ms to 30s). False with what is wrong in `error`, to be shown
 * after the setting's name.
 */
bool config_checkpoint_set(struct config_checkpoint *c, const char *setting, const char *value, struct error *error);

#endif
