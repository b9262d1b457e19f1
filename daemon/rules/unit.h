/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - the units that a number in an expression may have. */
#ifndef HW_DAEMON_RULES_UNIT_H
#define HW_DAEMON_RULES_UNIT_H

#include <stddef.h>

#include "daemon/rules/type.h"

struct rule_unit {
        const char *name;
        double factor; /* multiplied by this: bytes, seconds, or a plain number */
        struct type type;
};

/* "MiB", "ms", "%" ...; NULL when there is no such unit. */
const struct rule_unit *unit_find(const char *name, size_t size);

/* What may follow a '/': "s", "min", "h", "d"; its length in seconds. NULL as above. */
const struct rule_unit *unit_find_period(const char *name, size_t size);

/* The unit nearest to a mistyped one, or NULL. */
const char *unit_nearest(const char *name, size_t size);

#endif
