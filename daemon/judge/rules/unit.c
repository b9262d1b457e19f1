/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/parser.h"
#include "proto/base/array.h"

#include <string.h>

#include "proto/base/nearest.h"

#define KI 1024.0

static const struct rule_unit units[] = {
        { "B", 1, { .bytes = 1 } },
        { "KiB", KI, { .bytes = 1 } },
        { "MiB", KI *KI, { .bytes = 1 } },
        { "GiB", KI *KI *KI, { .bytes = 1 } },
        { "TiB", KI *KI *KI *KI, { .bytes = 1 } },
        { "kB", 1e3, { .bytes = 1 } },
        { "MB", 1e6, { .bytes = 1 } },
        { "GB", 1e9, { .bytes = 1 } },
        { "ns", 1e-9, { .seconds = 1 } },
        { "us", 1e-6, { .seconds = 1 } },
        { "ms", 1e-3, { .seconds = 1 } },
        { "s", 1, { .seconds = 1 } },
        { "m", 60, { .seconds = 1 } },
        { "min", 60, { .seconds = 1 } },
        { "h", 3600, { .seconds = 1 } },
        { "d", 86400, { .seconds = 1 } },
        { "%", 0.01, { .sort = SORT_SHARE } },
};

enum { UNITS = ARRAY_SIZE(units) };

const struct rule_unit *unit_find(const char *name, size_t size)
{
        for (size_t i = 0; i < UNITS; i++)
                if (strlen(units[i].name) == size && !memcmp(units[i].name, name, size))
                        return &units[i];
        return NULL;
}

const struct rule_unit *unit_find_period(const char *name, size_t size)
{
        const struct rule_unit *u = unit_find(name, size);

        return u && u->type.seconds == 1 && u->factor >= 1 ? u : NULL;
}

const char *unit_nearest(const char *name, size_t size)
{
        char typed[16];
        struct nearest near = { .typed = typed };

        if (size >= sizeof(typed))
                return NULL;
        memcpy(typed, name, size);
        typed[size] = '\0';
        for (size_t i = 0; i < UNITS; i++)
                nearest_try(&near, units[i].name);
        return near.found;
}
