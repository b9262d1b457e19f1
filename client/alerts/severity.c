/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/alerts/severity.h"

#include <stddef.h>
#include <string.h>

const char *const severity_names[SEVERITIES + 1] = { "info", "warning", "critical", NULL };

const char *severity_name(enum severity severity)
{
        return severity_names[severity];
}

static enum severity find(const char *text)
{
        enum severity s = SEVERITY_INFO;

        while (s < SEVERITIES && strcmp(severity_names[s], text) != 0)
                s++;
        return s;
}

enum severity severity_of(const char *label)
{
        enum severity found = label ? find(label) : SEVERITIES;

        return found < SEVERITIES ? found : SEVERITY_WARNING;
}
