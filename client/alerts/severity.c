/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/alerts/severity.h"

#include <string.h>

#include "proto/base/nearest.h"

static const char *const names[SEVERITIES] = { "info", "warning", "critical" };

const char *severity_name(enum severity severity)
{
        return names[severity];
}

static enum severity find(const char *text)
{
        enum severity s = SEVERITY_INFO;

        while (s < SEVERITIES && strcmp(names[s], text) != 0)
                s++;
        return s;
}

enum severity severity_of(const char *label)
{
        enum severity found = label ? find(label) : SEVERITIES;

        return found < SEVERITIES ? found : SEVERITY_WARNING;
}

int severity_option(const struct command *c, const char *text, enum severity *ret)
{
        const char *meant = nearest(text, names, SEVERITIES);
        enum severity found = find(text);

        if (found == SEVERITIES)
                return command_usage_error(c,
                                           "--fail-on: unknown severity '%s'; expected info, warning or critical"
                                           "%s%s%s",
                                           text, meant ? " (did you mean '" : "", meant ? meant : "",
                                           meant ? "'?)" : "");
        *ret = found;
        return 0;
}
