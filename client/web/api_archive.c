/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/server.h"

#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/answers/api/state_json.h"
#include "client/past/archive/archiver.h"
#include "client/out/http/answer.h"
#include "client/web/archived_parts.h"
#include "client/web/history_query.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

/* --------------------------------------------------------------- the query */

struct archive_query {
        size_t daemon;
        struct archived_query data; /* without the host */
};

#define LAST_S 9000000000 /* the year 2255: fits as nanoseconds */

static bool set_target(struct archive_query *q, const char *text)
{
        struct detail one = { .n = 0 };

        if (*q->data.target || !detail_add(&one, text))
                return false;
        q->daemon = one.targets[0].any_daemon ? 0 : one.targets[0].daemon;
        memcpy(q->data.target, one.targets[0].name, sizeof(q->data.target));
        return true;
}

/* "a,b" */
static bool add_series(struct archive_query *q, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, ",");
                char name[64];
                Hw__Series series;

                if (n >= sizeof(name) || q->data.n_series == SERIES_COUNT)
                        return false;
                memcpy(name, text, n);
                name[n] = '\0';
                series = hw_series_parse(name);
                if (series == HW__SERIES__SERIES_NONE)
                        return false;
                q->data.series[q->data.n_series++] = series;
                text += n + (text[n] ? 1 : 0);
        }
        return q->data.n_series > 0;
}

static bool set_top(struct archive_query *q, const char *text)
{
        uint64_t n = 0;
        bool good = !strncmp(text, "top", 3) && query_number(text + 3, ARCHIVED_TOP, &n) && n;

        q->data.top = (size_t)n;
        return good;
}

static bool set_from(struct archive_query *q, const char *text)
{
        return query_number(text, LAST_S, &q->data.from_s);
}

static bool set_to(struct archive_query *q, const char *text)
{
        return query_number(text, LAST_S, &q->data.to_s);
}

static bool set_points(struct archive_query *q, const char *text)
{
        uint64_t n = 0;
        bool good = query_number(text, ARCHIVED_POINTS, &n) && n;

        q->data.points = (size_t)n;
        return good;
}

static const struct parameter {
        const char *name, *expected;
        bool (*take)(struct archive_query *q, const char *text);
} parameters[] = {
        { "target", "one NAME or DAEMON:NAME", set_target },
        { "series", "series, e.g. live,rss", add_series },
        { "bands", "top1 to top100", set_top },
        { "from", "Unix time in seconds", set_from },
        { "to", "Unix time in seconds", set_to },
        { "points", "1 to 2000", set_points },
};

static bool set_parameter(struct archive_query *q, const struct evkeyval *kv, struct error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
                const struct parameter *p = &parameters[i];

                if (!strcmp(p->name, kv->key))
                        return p->take(q, kv->value) ||
                               error_set(error, "invalid value of '%s'; expected %s", p->name, p->expected);
        }
        return error_set(error, "unknown parameter '%.40s'; expected target, series, bands, from, to or points",
                         kv->key);
}

/* False with a message in `error`. */
static bool archive_query_parse(struct archive_query *ret, const struct evkeyvalq *all, struct error *error)
{
        *ret = (struct archive_query){ .data = { .to_s = LAST_S, .points = ARCHIVED_POINTS } };
        for (const struct evkeyval *kv = all->tqh_first; kv; kv = kv->next.tqe_next)
                if (!set_parameter(ret, kv, error))
                        return false;
        if (!*ret->data.target)
                return error_set(error, "expected a target");
        if (ret->data.to_s <= ret->data.from_s)
                return error_set(error, "'to' is not after 'from'");
        if ((ret->data.n_series || ret->data.top) && (!ret->data.from_s || ret->data.to_s == LAST_S))
                return error_set(error, "series and bands need 'from' and 'to'");
        return true;
}

/* ------------------------------------------------------------- api archive */

struct archive_job {
        struct worker_job job;
        const char *path;
        struct archived_query query;
};

static bool read_archive(struct worker_job *job, struct json_out *to, struct error *error)
{
        const struct archive_job *a = (const struct archive_job *)job;

        return archived_print(to, a->path, &a->query, error);
}

static bool parse_query(struct archive_query *q, const char *query, struct error *error)
{
        struct evkeyvalq given;
        bool good;

        if (evhttp_parse_query_str(query ? query : "", &given) < 0)
                return error_set(error, "malformed query");
        good = archive_query_parse(q, &given, error);
        evhttp_clear_headers(&given);
        return good;
}

static struct worker_job *job_of(const struct archive_source *s, const struct archive_query *q)
{
        struct archive_job *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->job.work = read_archive;
        a->path = s->path;
        a->query = q->data;
        archive_host(a->query.host, sizeof(a->query.host), feed_endpoint(s->feed, q->daemon));
        return &a->job;
}

void api_archive_answer(const struct archive_source *s, struct evhttp_request *req, const char *query)
{
        static const char none[] = "{\"archive\":false,\"runs\":[],\"older\":0}\n"; /* no error: most have none */
        struct archive_query q;
        struct error error;

        if (!s->path || access(s->path, F_OK) < 0)
                answer_json(req, none, strlen(none));
        else if (!parse_query(&q, query, &error))
                answer_error(req, 400, "%s", error.text);
        else if (q.daemon >= feed_daemons(s->feed))
                answer_error(req, 400, "there is no daemon of that number");
        else
                worker_queue(s->worker, job_of(s, &q), req);
}
