/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/config_record.h"

#include <string.h>

#include "daemon/config/directory.h"
#include "heapwatch/text.h"

#define BYTES_LEAST (UINT64_C(1) << 20)

static bool parse_bytes(uint64_t *to, const char *value, struct error *error)
{
        uint64_t bytes;

        if (!hw_parse_bytes(value, &bytes) || bytes < BYTES_LEAST)
                return error_set(error, "'%.40s'; expected a size of at least 1MiB, such as 500MiB or 4GiB", value);
        *to = bytes;
        return true;
}

bool config_record_set(struct config_record *c, const char *setting, const char *value, struct error *error)
{
        if (!strcmp(setting, "directory"))
                return config_directory(c->directory, sizeof(c->directory), value, error);
        if (!strcmp(setting, "total"))
                return parse_bytes(&c->total_bytes, value, error);
        if (!strcmp(setting, "per_target"))
                return parse_bytes(&c->target_bytes, value, error);
        if (!strcmp(setting, "free"))
                return parse_bytes(&c->free_bytes, value, error);
        if (!strcmp(setting, "bundles")) {
                c->no_bundles = !strcmp(value, "false");
                return c->no_bundles || !strcmp(value, "true") ||
                       error_set(error, "'%.40s'; expected true or false", value);
        }
        return (hw_parse_duration(value, &c->for_ns) && c->for_ns > 0) ||
               error_set(error, "'%.40s'; expected a time such as 12h or 7d", value);
}

static void add(uint64_t *to, uint64_t from)
{
        if (*to == 0)
                *to = from;
}

void config_record_add(struct config_record *c, const struct config_record *given)
{
        if (!c->directory[0])
                memcpy(c->directory, given->directory, sizeof(c->directory));
        add(&c->total_bytes, given->total_bytes);
        add(&c->target_bytes, given->target_bytes);
        add(&c->for_ns, given->for_ns);
        add(&c->free_bytes, given->free_bytes);
        c->no_bundles |= given->no_bundles;
}

void config_record_fill(struct config_record *c)
{
        add(&c->total_bytes, CONFIG_RECORD_TOTAL);
        add(&c->target_bytes, CONFIG_RECORD_TARGET);
        add(&c->for_ns, CONFIG_RECORD_FOR);
        add(&c->free_bytes, CONFIG_RECORD_FREE);
}
