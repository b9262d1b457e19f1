/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/config_checkpoint.h"

#include <string.h>

#include "daemon/config/directory.h"
#include "heapwatch/text.h"

#define EVERY_LEAST UINT64_C(100000000)
#define EVERY_MOST  (30 * UINT64_C(1000000000))

bool config_checkpoint_set(struct config_checkpoint *c, const char *setting, const char *value, struct error *error)
{
        uint64_t every_ns;

        if (!strcmp(setting, "directory"))
                return config_directory(c->directory, sizeof(c->directory), value, error);
        if (!hw_parse_duration(value, &every_ns) || every_ns < EVERY_LEAST || every_ns > EVERY_MOST)
                return error_set(error, "'%.40s'; expected a time from 100ms to 30s", value);
        c->every_ns = every_ns;
        return true;
}
