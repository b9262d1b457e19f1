/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/stretch.h"

#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/ckd.h"

bool stretch_is(const char *text)
{
        return !strncmp(text, RECORDING_PREFIX, strlen(RECORDING_PREFIX));
}

static bool copy(char *to, size_t room, const char *from, size_t n)
{
        if (n >= room)
                return false;
        memcpy(to, from, n);
        to[n] = '\0';
        return true;
}

/* "from=-10m&to=5m" */
static bool parse_query(struct stretch *s, const char *query)
{
        while (*query) {
                size_t n = strcspn(query, "&");
                bool good = !strncmp(query, "from=", 5)
                                    ? copy(s->from, sizeof(s->from), query + 5, n - 5)
                                    : !strncmp(query, "to=", 3) && copy(s->to, sizeof(s->to), query + 3, n - 3);
                if (!good)
                        return false;
                query += n + (query[n] ? 1 : 0);
        }
        return true;
}

bool stretch_parse(const char *text, struct stretch *ret, struct error *error)
{
        const char *rest = text + strlen(RECORDING_PREFIX), *query = strchr(rest, '?');
        size_t n = query ? (size_t)(query - rest) : strlen(rest);
        const char *slash = memrchr(rest, '/', n);
        const char *which = slash ? slash + 1 : rest;

        *ret = (struct stretch){ .directory = "" };
        if (copy(ret->which, sizeof(ret->which), which, n - (size_t)(which - rest)) && ret->which[0] &&
            (!slash || copy(ret->directory, sizeof(ret->directory), rest, (size_t)(slash - rest))) &&
            (!query || parse_query(ret, query + 1)))
                return true;
        return error_set(error,
                         "expected recording:[DIRECTORY/]TARGET[@RUN][?from=MOMENT&to=MOMENT], as in "
                         "recording:api~1?from=-10m");
}

/* Event time of a moment of that run, as typed; "" is `otherwise`. False with a sentence. */
static bool stretch_moment(const char *text, const struct recorded_run *run, uint64_t otherwise, uint64_t *ret_ns,
                           struct error *error)
{
        char sign = text[0] == '-' || text[0] == '+' ? text[0] : '\0';
        uint64_t ns;

        *ret_ns = otherwise;
        if (!*text)
                return true;
        *ret_ns = run->end_ns;
        if (!strcmp(text, "now"))
                return true;
        if (!hw_parse_duration(text + (sign ? 1 : 0), &ns))
                return error_set(error,
                                 "'%.40s': expected a time since the program began (5m), before the recording's end "
                                 "(-10m), after it (+5m), or now",
                                 text);
        if (sign == '-')
                *ret_ns = sub_sat(run->end_ns, ns);
        else if (sign == '\0')
                *ret_ns = ns;
        else if (ckd_add(ret_ns, run->end_ns, ns))
                *ret_ns = UINT64_MAX;
        return true;
}

bool stretch_range(const struct stretch *s, const struct recorded_run *run, struct cutout_range *ret,
                   struct error *error)
{
        if (!stretch_moment(s->from, run, 0, &ret->from_ns, error) ||
            !stretch_moment(s->to, run, UINT64_MAX, &ret->to_ns, error))
                return false;
        if (ret->from_ns > run->end_ns) {
                char from[HW_NUMBER_MAX], end[HW_NUMBER_MAX];
                return error_set(error, "the stretch begins %s into the run, of which %s are recorded",
                                 hw_duration_text(from, sizeof(from), (double)ret->from_ns),
                                 hw_duration_text(end, sizeof(end), (double)run->end_ns));
        }
        return ret->from_ns <= ret->to_ns || error_set(error, "the stretch ends before it begins");
}
