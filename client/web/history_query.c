/* SPDX-License-Identifier: BSD-3-Clause */
/* history_query.c - parameters of a query: each is checked, and unknown ones are rejected by name. */
#include "client/web/history_query.h"
#include "client/answers/api/state_json.h"
#include "proto/base/array.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/digits.h"
#include "proto/base/limits.h"
#include "proto/base/text_out.h"
#include "proto/base/error.h"

#define SECONDS_MOST 1e9 /* 31 years of event time */

/* The text is overwritten. */
static bool parse_value(const struct query_parameter *p, void *to, char *text)
{
        const size_t before = p->before ? strlen(p->before) : 0;
        char *part;
        uint64_t n;

        if (!p->take && (strncmp(text, p->before, before) || !digits_parse(text + before, p->most, &n) || n < p->least))
                return false;
        if (!p->take) {
                memcpy((char *)to + p->at, &n, sizeof(n));
                return true;
        }
        if (!p->list)
                return p->take(to, text);
        while ((part = strsep(&text, ",")))
                if (!p->take(to, part))
                        return false;
        return true;
}

bool query_parse(const char *query, const struct query_parameter *known, size_t n, void *to, struct error *error)
{
        struct evkeyvalq given;
        bool good = true;

        if (!query_parameters(query, &given))
                return error_set(error, "malformed query");
        for (const struct evkeyval *kv = given.tqh_first; good && kv; kv = kv->next.tqe_next) {
                char names[128];
                struct text_out expected;
                size_t i = 0;

                while (i < n && strcmp(known[i].name, kv->key) != 0)
                        i++;
                if (i < n) {
                        good = parse_value(&known[i], to, kv->value) ||
                               error_set(error, "invalid value of '%s'; expected %s", known[i].name, known[i].expected);
                        continue;
                }
                text_out_init(&expected, names, sizeof(names));
                for (i = 0; i < n; i++) {
                        text_put(&expected, i == 0 ? "" : i + 1 < n ? ", " : " or ");
                        text_put(&expected, known[i].name);
                }
                good = error_set(error, "unknown parameter '%.40s'; expected %s", kv->key, names);
        }
        evhttp_clear_headers(&given);
        return good;
}

/* ----------------------------------------------------------- of /api/history */

static bool add_target(void *q, const char *text)
{
        return detail_add(&((struct history_query *)q)->targets, text);
}

static bool add_series(void *to, const char *name)
{
        struct history_query *q = to;
        Hw__Series s = hw_series_parse(name);

        if (s == HW__SERIES__SERIES_NONE || q->n_series == SERIES_COUNT)
                return false;
        q->series[q->n_series++] = s;
        return true;
}

static bool add_band(void *to, const char *text)
{
        struct history_query *q = to;
        uint64_t id;

        if (!digits_parse(text, LIMIT_BANDS, &id) || q->n_bands == QUERY_BANDS)
                return false;
        q->bands[q->n_bands++] = (uint32_t)id;
        return true;
}

static bool parse_seconds(const char *text, double *ret)
{
        char *end;

        *ret = strtod(text, &end);
        return *text && !*end && isfinite(*ret) && fabs(*ret) <= SECONDS_MOST;
}

static bool set_from(void *to, const char *text)
{
        struct history_query *q = to;

        return q->has_from = parse_seconds(text, &q->from_s);
}

static bool set_to(void *to, const char *text)
{
        struct history_query *q = to;

        return q->has_to = parse_seconds(text, &q->to_s) && q->to_s >= 0;
}

static bool set_step(void *to, const char *text)
{
        struct history_query *q = to;

        return parse_seconds(text, &q->step_s) && q->step_s >= 0;
}

static const struct query_parameter parameters[] = {
        { "target", "NAME or DAEMON:NAME, at most 32", .take = add_target },
        { "series", "a series, e.g. live, rss, gc_pause", .take = add_series, .list = true },
        { "band", "band numbers, at most 400; 0 is the total", .take = add_band, .list = true },
        { "bands", "top1 to top200", NULL, false, "top", 1, QUERY_TOP, offsetof(struct history_query, top) },
        { "from", "seconds of event time, or negative: before now", .take = set_from },
        { "to", "seconds of event time", .take = set_to },
        { "step", "seconds", .take = set_step },
        { "points", "1 to 100000", NULL, false, "", 1, QUERY_POINTS, offsetof(struct history_query, points) },
};

bool history_query_parse(struct history_query *q, const char *query, struct error *error)
{
        memset(q, 0, sizeof(*q));
        if (!query_parse(query, parameters, ARRAY_SIZE(parameters), q, error))
                return false;
        if (!q->targets.n || (!q->n_series && !q->n_bands && !q->top))
                return error_set(error, "expected a target and a series, a band or bands=topN");
        return true;
}

/* ---------------------------------------------------------------- resolving */

static uint64_t seconds_to_ns(double s)
{
        return s > 0 ? (uint64_t)(s * 1e9 + 0.5) : 0;
}

/* What the wanted pasts of one target have in common. */
static struct wanted frame_of(const struct history_query *q, size_t i, const struct world_target *t)
{
        struct wanted w = { .daemon = t ? t->daemon : q->targets.targets[i].daemon,
                            .known = t != NULL,
                            .run = t ? t->run : 0,
                            .range.to_ns = q->has_to ? seconds_to_ns(q->to_s) : UINT64_MAX,
                            .step_ns = seconds_to_ns(q->step_s) };
        double newest_s = t ? (double)t->event_time_ns / 1e9 : 0;

        (void)snprintf(w.target, sizeof(w.target), "%s", q->targets.targets[i].name);
        if (q->has_from)
                w.range.from_ns = seconds_to_ns(q->from_s < 0 ? newest_s + q->from_s : q->from_s);
        if (q->points) {
                double to_s = q->has_to && q->to_s < newest_s ? q->to_s : newest_s,
                       from_s = (double)w.range.from_ns / 1e9;
                uint64_t step_ns = to_s > from_s ? seconds_to_ns((to_s - from_s) / (double)q->points) : 0;

                w.step_ns = step_ns > w.step_ns ? step_ns : w.step_ns;
        }
        return w;
}

struct resolved {
        struct wanted *list;
        size_t n;
        bool full, out_of_memory;
};

static void put_resolved(struct resolved *r, const struct wanted *frame_, Hw__Series series, uint32_t band,
                         const char *label)
{
        struct wanted *w = &r->list[r->n];

        if (r->n == QUERY_ITEMS) {
                r->full = true;
                return;
        }
        *w = *frame_;
        w->series = series;
        w->band = band;
        w->label = label ? strdup(label) : NULL;
        r->out_of_memory |= label && !w->label;
        r->n++;
}

bool history_query_resolve(const struct history_query *q, const struct world *world, struct wanted *list, size_t *ret_n,
                           struct error *error)
{
        struct resolved r = { .list = list };

        for (size_t i = 0; i < q->targets.n; i++) {
                const struct world_target *t = detail_find(&q->targets, i, world);
                const struct world_band *top[QUERY_TOP];
                const struct wanted w = frame_of(q, i, t);
                const size_t n_top = t && q->top ? world_top_bands(t, top, (size_t)q->top) : 0;

                for (size_t s = 0; s < q->n_series; s++)
                        put_resolved(&r, &w, q->series[s], 0, NULL);
                for (size_t b = 0; b < q->n_bands; b++) {
                        const struct world_band *band = t ? world_band_of(t, q->bands[b]) : NULL;
                        put_resolved(&r, &w, HW__SERIES__SERIES_NONE, q->bands[b], band ? band->def->label : NULL);
                }
                for (size_t b = 0; b < n_top; b++)
                        put_resolved(&r, &w, HW__SERIES__SERIES_NONE, top[b]->id, top[b]->def->label);
        }
        *ret_n = r.n;
        if (!r.full && !r.out_of_memory)
                return true;
        error_set(error, r.full ? "that is more than %d histories in one request" : "out of memory", QUERY_ITEMS);
        wanted_done(list, r.n);
        return false;
}

void wanted_done(struct wanted *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(list[i].label);
}
