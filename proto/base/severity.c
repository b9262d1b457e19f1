/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/severity.h"

#include <stddef.h>
#include <string.h>

const char *const severity_names[SEVERITIES + 1] = { "info", "warning", "critical", NULL };

const char *severity_name(enum severity severity)
{
        return severity_names[severity];
}

bool severity_parse(const char *text, enum severity *ret)
{
        for (enum severity s = SEVERITY_INFO; s < SEVERITIES; s++) {
                if (!strcmp(severity_names[s], text)) {
                        *ret = s;
                        return true;
                }
        }
        return false;
}

enum severity severity_of(const char *label)
{
        enum severity found = SEVERITY_WARNING;

        if (label)
                (void)severity_parse(label, &found);
        return found;
}
