/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/server.h"

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

static bool set_target(void *to, const char *text)
{
        struct archive_query *q = to;
        struct detail one = { .n = 0 };

        if (*q->data.target || !detail_add(&one, text))
                return false;
        q->daemon = one.targets[0].any_daemon ? 0 : one.targets[0].daemon;
        memcpy(q->data.target, one.targets[0].name, sizeof(q->data.target));
        return true;
}

static bool add_series(void *to, const char *name)
{
        struct archive_query *q = to;
        Hw__Series s = hw_series_parse(name);

        if (s == HW__SERIES__SERIES_NONE || q->data.n_series == SERIES_COUNT)
                return false;
        q->data.series[q->data.n_series++] = s;
        return true;
}

static const struct query_parameter parameters[] = {
        { "target", "one NAME or DAEMON:NAME", .take = set_target },
        { "series", "series, e.g. live,rss", .take = add_series, .list = true },
        { "bands", "top1 to top100", NULL, false, "top", 1, ARCHIVED_TOP, offsetof(struct archive_query, data.top) },
        { "from", "Unix time in seconds", NULL, false, "", 0, LAST_S, offsetof(struct archive_query, data.from_s) },
        { "to", "Unix time in seconds", NULL, false, "", 0, LAST_S, offsetof(struct archive_query, data.to_s) },
        { "points", "1 to 2000", NULL, false, "", 1, ARCHIVED_POINTS, offsetof(struct archive_query, data.points) },
};

/* False with a message in `error`. */
static bool archive_query_parse(struct archive_query *ret, const char *query, struct error *error)
{
        *ret = (struct archive_query){ .data = { .to_s = LAST_S, .points = ARCHIVED_POINTS } };
        if (!query_parse(query, parameters, ARRAY_SIZE(parameters), ret, error))
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
        else if (!archive_query_parse(&q, query, &error))
                answer_error(req, 400, "%s", error.text);
        else if (q.daemon >= feed_daemons(s->feed))
                answer_error(req, 400, "there is no daemon of that number");
        else
                worker_queue(s->worker, job_of(s, &q), req);
}
