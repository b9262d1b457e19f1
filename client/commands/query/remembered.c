/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remembered.c - rows of what the daemon of a live target remembers of the time before its newest messages.
 *
 * DESIGN: one request for each series or band of a target. Series are rows as they come. Censuses and bands are
 * intervals, each a row at its end, up to the newest census, which has come as a message and has rows of its own.
 * Points of bands are kept until all of a target are there, because several bands may have one name, which is one row.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/signals.h"
#include "client/commands/query/tables.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"

#define STEP_MS   200
#define BANDS_MAX 1000u /* of which a daemon keeps a history: the first ones of a run */

/* A band, the first of its name, in an interval. */
struct band_point {
        uint32_t first;
        uint64_t time_ns, bytes, max, n; /* the interval's end; n: how many bands were added up */
};

struct recalled {
        struct query_scan *scan;
        const struct world_target *target;
        struct hw_requester *requester;
        struct band_point *points;
        size_t n, room;
        struct error *error; /* the first */
        bool failed;
};

/*
 * The last moment of an interval, up to the newest census. 0: that is all that is in it, or it is not in time.
 */
static uint64_t find_end(const struct query_scan *s, const Hw__Point *p)
{
        const uint64_t end_ns = p->time_ns + p->width_ns;
        const bool is_newest = s->newest_census_ns >= p->time_ns && s->newest_census_ns < end_ns;
        const uint64_t last_ns = (is_newest ? s->newest_census_ns : end_ns) - 1;

        return (!is_newest || p->count > 1) && query_is_in_time(s, last_ns) ? last_ns : 0;
}

static void add_census(struct query_scan *s, const struct world_target *t, uint64_t end_ns, const Hw__Point *p)
{
        query_begin_row(s, t->name, t->run);
        query_rows_add_seconds(&s->rows, end_ns);
        query_rows_add_null(&s->rows);
        query_rows_add_integer(&s->rows, (uint64_t)p->last);
        for (unsigned i = 0; i < 3; i++)
                query_rows_add_null(&s->rows);
}

static void add_point(struct recalled *r, const Hw__History *h, const Hw__Point *p)
{
        struct query_scan *s = r->scan;
        const uint64_t end_ns = find_end(s, p);
        const struct query_band *band = h->has_band && h->band ? query_find_band(s, r->target, h->band) : NULL;

        if (!h->has_band && query_is_in_time(s, p->has_last_time_ns ? p->last_time_ns : p->time_ns))
                query_add_series_row(s, h->target, h->run, h->series, p);
        else if (h->has_band && !h->band && end_ns)
                add_census(s, r->target, end_ns, p);
        if (!band || !end_ns)
                return;
        if (ARRAY_RESERVE(r->points, r->room, r->n + 1))
                r->points[r->n++] = (struct band_point){ band->first, end_ns, (uint64_t)p->last, (uint64_t)p->max, 1 };
        else
                s->rows.failed = true;
}

static void receive_history(void *ctx, int status, const Hw__Reply *reply)
{
        struct recalled *r = ctx;

        if (status < 0 || reply->what_case != HW__REPLY__WHAT_HISTORY) {
                if (!r->failed && (status < 0 || reply->error))
                        r->failed = !error_set(r->error, "what the daemon remembers is missing: %s",
                                               status < 0 ? hw_reply_error(status) : reply->error);
                return;
        }
        for (size_t i = 0; reply->history->run == r->target->run && i < reply->history->n_points; i++)
                add_point(r, reply->history, reply->history->points[i]);
}

/* With SERIES_NONE a band, or 0: all bands together. */
static bool request_history(struct recalled *r, Hw__Series series, uint32_t band)
{
        const uint64_t now_ms = clock_mono_ms(), until_ms = r->scan->until_ms;
        Hw__HistoryRequest history = HW__HISTORY_REQUEST__INIT;
        Hw__Request request = HW__REQUEST__INIT;

        history.target = (char *)r->target->name;
        history.series = series;
        history.has_series = series != HW__SERIES__SERIES_NONE;
        history.band = band;
        history.has_band = !history.has_series;
        request.what_case = HW__REQUEST__WHAT_HISTORY;
        request.history = &history;
        const int status =
                hw_requester_send(r->requester, r->target->daemon, &request,
                                  until_ms > now_ms ? (int)(until_ms - now_ms) : 0, receive_history, r, NULL);
        return status == 0 || error_set(r->error, "the daemon cannot be asked: %s", strerror(-status));
}

static bool request_all(struct recalled *r, enum query_memory of)
{
        struct query_scan *s = r->scan;
        bool good = of != QUERY_REMEMBERED_CENSUSES || request_history(r, HW__SERIES__SERIES_NONE, 0);

        for (unsigned i = 1; good && of == QUERY_REMEMBERED_SERIES && i < SERIES_COUNT; i++)
                if (query_is_key(s, hw_series_name((Hw__Series)i)))
                        good = request_history(r, (Hw__Series)i, 0);
        for (uint32_t id = 1; good && of == QUERY_REMEMBERED_BANDS && id <= r->target->n_bands && id <= BANDS_MAX;
             id++) {
                const struct query_band *band = query_find_band(s, r->target, id);

                if (band && query_is_key(s, band->name))
                        good = request_history(r, HW__SERIES__SERIES_NONE, id);
        }
        return good;
}

static int compare_points(const void *a, const void *b)
{
        const struct band_point *x = a, *y = b;

        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return x->first < y->first ? -1 : x->first > y->first;
}

/* Those of one name in one interval are one row, the maximum of which is not known where they are several. */
static void add_bands(struct recalled *r)
{
        struct query_scan *s = r->scan;
        struct band_point *p = r->points;

        ARRAY_SORT(p, r->n, compare_points);
        for (size_t i = 0, next; i < r->n; i = next) {
                for (next = i + 1; next < r->n && compare_points(&p[i], &p[next]) == 0; next++) {
                        p[i].bytes += p[next].bytes;
                        p[i].n++;
                }
                query_begin_row(s, r->target->name, r->target->run);
                query_rows_add_text(&s->rows, s->bands[p[i].first - 1].name);
                query_rows_add_seconds(&s->rows, p[i].time_ns);
                query_rows_add_null(&s->rows);
                query_rows_add_integer(&s->rows, p[i].first);
                query_rows_add_integer(&s->rows, p[i].bytes);
                query_rows_add_null(&s->rows);
                query_rows_add_optional(&s->rows, p[i].n == 1, p[i].max);
        }
        r->n = 0;
}

bool query_add_remembered(struct query_scan *s, enum query_memory what, struct error *error)
{
        struct recalled r = { .scan = s, .requester = feed_requester(s->feed), .error = error };
        bool good = r.requester || error_set(error, "the daemon cannot be asked: %s", strerror(errno));
        struct pollfd readable = { .fd = good ? hw_requester_fd(r.requester) : -1, .events = POLLIN };

        for (size_t i = 0; good && i < world_targets(s->world); i++) {
                r.target = world_target(s->world, i);
                good = request_all(&r, what);
                while (good && hw_requester_pump(r.requester) && !signals_stop() && clock_mono_ms() < s->until_ms)
                        (void)poll(&readable, 1, STEP_MS);
                add_bands(&r);
                good = good && !r.failed;
        }
        hw_requester_destroy(&r.requester);
        free(r.points);
        return good;
}
