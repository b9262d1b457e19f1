/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/time.h"

#define DAY_NS (DAY_S * NS_PER_S)

bool select_is(const char *text)
{
        const char *at = strchr(text, '@');

        return at && at > text && !memchr(text, '/', (size_t)(at - text)) && !memchr(text, ':', (size_t)(at - text)) &&
               access(text, F_OK) < 0;
}

/* ------------------------------------------------------------------------- times */

/* Midnight of a day, UTC. False: not a day. */
static bool parse_day(const char *text, uint64_t *ret_ns)
{
        struct tm tm = { .tm_isdst = 0 };
        const char *end = strptime(text, "%Y-%m-%d", &tm);
        time_t at = end && !*end ? timegm(&tm) : -1;

        *ret_ns = (uint64_t)at * NS_PER_S;
        return at > 0;
}

static bool parse_days(const char *text, uint64_t *ret_from, uint64_t *ret_to)
{
        const char *dots = strstr(text, "..");
        char first[16];

        if (!dots) {
                if (!parse_day(text, ret_from))
                        return false;
                *ret_to = *ret_from + DAY_NS;
                return true;
        }
        (void)snprintf(first, sizeof(first), "%.*s", (int)(dots - text), text);
        if ((size_t)(dots - text) >= sizeof(first) || !parse_day(first, ret_from) || !parse_day(dots + 2, ret_to))
                return false;
        *ret_to += DAY_NS;
        return *ret_to > *ret_from;
}

/* The span that words mean. */
static bool parse_when(const char *text, uint64_t now_ns, uint64_t *ret_from, uint64_t *ret_to)
{
        static const struct {
                const char *word;
                uint64_t days;
        } words[] = { { "yesterday", 1 }, { "last-week", 7 }, { "last-month", 30 } };
        uint64_t ago = 0;

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (!strcmp(text, words[i].word))
                        ago = words[i].days * DAY_NS;
        if (!ago && (*text != '-' || !hw_parse_duration(text + 1, &ago)))
                return parse_days(text, ret_from, ret_to);
        if (ago > now_ns - DAY_NS)
                return false;
        *ret_to = now_ns - ago;
        *ret_from = *ret_to - DAY_NS;
        return true;
}

/* ---------------------------------------------------------------------------- runs */

static void clip_run(struct archived_run *r, uint64_t from_ns, uint64_t to_ns)
{
        r->whole = r->first_ns >= from_ns && r->seen_ns < to_ns;
        r->from_ns = r->first_ns > from_ns ? r->first_ns : from_ns;
        r->to_ns = r->seen_ns < to_ns ? r->seen_ns + 1 : to_ns;
}

bool select_between(struct database *d, const char *target, uint64_t from_ns, uint64_t to_ns, struct archived_runs *ret,
                    struct error *error)
{
        size_t before = ret->n;

        if (!archived_runs_read(d, "target = ?1 AND seen_ns >= ?3 AND first_ns < ?4", target, NULL, (int64_t)from_ns,
                                (int64_t)to_ns, ret, error))
                return false;
        for (size_t i = before; i < ret->n; i++)
                clip_run(&ret->items[i], from_ns, to_ns);
        return true;
}

static bool select_now(struct database *d, const char *target, struct archived_runs *ret, struct error *error)
{
        size_t before = ret->n;

        if (!archived_runs_read(d,
                                "id = (SELECT id FROM runs WHERE target = ?1 AND seen_ns IS NOT NULL"
                                " ORDER BY start_ns DESC, id DESC LIMIT 1)",
                                target, NULL, 0, 0, ret, error))
                return false;
        for (size_t i = before; i < ret->n; i++) {
                struct archived_run *r = &ret->items[i];
                clip_run(r, r->seen_ns >= DAY_NS ? r->seen_ns - DAY_NS + 1 : 0, UINT64_MAX);
        }
        return true;
}

/* "0", "-1", "17". */
static bool select_number(struct database *d, const char *target, const char *text, struct archived_runs *ret,
                          struct error *error)
{
        char *end;
        errno = 0;
        long long number = strtoll(text, &end, 10);

        if (errno || end == text || *end)
                return error_set(error, "'run:%s': expected run:0, run:-1 ... or a run's number", text);
        if (number > 0)
                return archived_runs_read(d, "target = ?1 AND id = ?3 AND seen_ns IS NOT NULL", target, NULL, number, 0,
                                          ret, error);
        return archived_runs_read(d,
                                  "id = (SELECT id FROM runs WHERE target = ?1 AND seen_ns IS NOT NULL"
                                  " ORDER BY start_ns DESC, id DESC LIMIT 1 OFFSET ?3)",
                                  target, NULL, -number, 0, ret, error);
}

static bool select_when(struct database *d, const char *target, const char *when, uint64_t now_ns,
                        struct archived_runs *ret, struct error *error)
{
        uint64_t from, to;

        if (!strcmp(when, "now"))
                return select_now(d, target, ret, error);
        if (!strcmp(when, "all"))
                return archived_runs_read(d, "target = ?1 AND seen_ns IS NOT NULL", target, NULL, 0, 0, ret, error);
        if (!strncmp(when, "run:", 4))
                return select_number(d, target, when + 4, ret, error);
        if (!strncmp(when, "label:", 6)) {
                const char *label = when + 6;
                if (!strchr(label, '='))
                        return error_set(error, "'label:%s': expected label:NAME=VALUE", label);
                return archived_runs_read(d,
                                          "target = ?1 AND seen_ns IS NOT NULL AND id IN"
                                          " (SELECT run FROM labels WHERE name || '=' || value = ?2)",
                                          target, label, 0, 0, ret, error);
        }
        if (parse_when(when, now_ns, &from, &to))
                return select_between(d, target, from, to, ret, error);
        return error_set(error,
                         "'%s' is not a time in an archive; expected now, yesterday, last-week, last-month, -3h, "
                         "2026-11-03, 2026-11-03..2026-11-05, run:-1, label:NAME=VALUE or all",
                         when);
}

/* Whether the archive has the target at all. */
static bool has_target(struct database *d, const char *target, struct error *error)
{
        struct archived_runs any = { .n = 0 };
        bool good = archived_runs_read(d, "id = (SELECT min(id) FROM runs WHERE target = ?1)", target, NULL, 0, 0, &any,
                                       error);

        if (good && !any.n)
                good = error_set(error, "%s has no target %s", d->path, target);
        archived_runs_done(&any);
        return good;
}

/* What there is none of. */
static const char *none_of(const char *when)
{
        return !strncmp(when, "label:", 6) ? "run with that label"
               : !strncmp(when, "run:", 4) ? "such run"
                                           : "run at that time";
}

bool select_runs(struct database *d, const char *text, uint64_t now_ns, struct archived_runs *ret, struct error *error)
{
        const char *at = strchr(text, '@');
        size_t before = ret->n;
        char *target = strndup(text, (size_t)(at - text));
        bool good = target ? has_target(d, target, error) : error_set(error, "out of memory");

        good = good && select_when(d, target, at + 1, now_ns, ret, error);
        free(target);
        if (good && ret->n == before)
                good = error_set(error, "%s: %s has no %s", text, d->path, none_of(at + 1));
        return good;
}
