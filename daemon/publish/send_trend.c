/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: trends that are due, or all of them for a late joiner, in parts. The rest of the message is full state,
 * computed once and put into every part.
 */
#include "daemon/publish/encode.h"
#include "daemon/publish/limits.h"
#include "daemon/publish/send.h"
#include "daemon/publish/sentences.h"

#include <stdio.h>

struct trend_state {
        struct standing of;
        struct rising_subjects rising;
        struct thread_rise threads;
        bool has_threads;
};

static bool ended_rising(const struct trend_state *s)
{
        return s->of.has_early && s->of.early.ended && s->of.early.rising;
}

/* With the rise that a run ended with, where its verdict does not say that it grew, and denies it no more. */
static char *with_rise(struct encoder *e, char *sentence, bool denied, const struct trend_state *s)
{
        char rise[SENTENCE_MAX], whole[2 * SENTENCE_MAX];

        if (!ended_rising(s) || !sentence)
                return sentence;
        (void)sentence_early(rise, sizeof(rise), &s->of.early);
        (void)snprintf(whole, sizeof(whole), "%s; at its end %s", denied ? "not called growing" : sentence, rise);
        return encoder_copy(e, whole);
}

static bool send_part(struct publisher *p, const struct subject *subjects, uint32_t n, const struct trend_state *s,
                      struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;
        Hw__Trends body = HW__TRENDS__INIT;
        struct encoder *e = p->encoder;

        body.growth = p->stopped ? encode_no_growth(e, "stopped", "its process is stopped: nothing is judged")
                                 : encode_growth(e, model_bands(p->model), &s->of.growth);
        if (body.growth && s->of.growth.where != GROWTH_LIVE)
                body.growth->sentence = with_rise(e, body.growth->sentence, s->of.growth.where == GROWTH_NOWHERE, s);
        body.scale = encode_scale(e, tracker_config_of(p->tracker));
        if (s->of.has_limit)
                body.time_to_limit = encode_time_to_limit(e, &s->of.limit);
        if (s->has_threads)
                body.threads = encode_threads(e, model_bands(p->model), &s->threads);
        if (s->of.has_early)
                body.early = encode_early(e, p->tracker, model_bands(p->model), &s->of.early);
        struct memory_limit limit = tracker_limit(p->tracker);
        PUT_U64(&body, limit_bytes, limit.bytes);
        if (limit.bytes != UNKNOWN_U64)
                PUT(&body, limit_source, (Hw__TimeToLimit__Source)limit.source);
        PUT(&body, bands_left_out, tracker_bands_left_out(p->tracker));
        PUT(&body, late_samples, tracker_late(p->tracker));
        update.body_case = HW__UPDATE__BODY_TRENDS;
        update.trends = &body;
        body.trends = encoder_calloc(p->encoder, n, sizeof(*body.trends));
        for (uint32_t i = 0; !p->encoder->failed && i < n; i++) {
                Hw__Trend *row = encode_trend(p->encoder, p->tracker, subjects[i], p->stopped ? NULL : &s->of.growth,
                                              &s->rising);
                if (row && ended_rising(s) && !subjects[i].band && subjects[i].series == s->of.early.series &&
                    row->verdict < HW__VERDICT__VERDICT_GROWING)
                        row->sentence =
                                with_rise(p->encoder, row->sentence, row->verdict == HW__VERDICT__VERDICT_STEADY, s);
                body.trends[body.n_trends++] = row;
        }
        return send_update(p, &update, to);
}

/* The run ended of the limit that it rose towards. */
static bool met_its_limit(const struct publisher *p, const struct tracked_early *early)
{
        return early->ended && early->limit.source != LIMIT_SOURCE_UNKNOWN && early->limit.source == p->ended_by;
}

static struct trend_state read_state(const struct publisher *p)
{
        struct trend_state s;

        tracker_standing(p->tracker, &s.of);
        tracker_rising(p->tracker, &s.rising);
        s.has_threads = tracker_thread_rise(p->tracker, &s.threads) && !p->stopped;
        s.of.has_early &= !p->stopped;
        s.of.early.at_limit |= s.of.has_early && met_its_limit(p, &s.of.early);
        s.of.has_limit &= !p->stopped;
        return s;
}

/* The next of those that are due, or of all. */
static uint32_t collect_next(struct publisher *p, uint32_t *at, struct subject subjects[LIMIT_TRENDS_PER_UPDATE])
{
        uint32_t n = 0;

        if (!p->trends_changed)
                return tracker_collect_due(p->tracker, subjects, LIMIT_TRENDS_PER_UPDATE);
        while (n < LIMIT_TRENDS_PER_UPDATE && tracker_next(p->tracker, at, &subjects[n]))
                n++;
        return n;
}

bool send_trends_due(struct publisher *p)
{
        struct subject subjects[LIMIT_TRENDS_PER_UPDATE];
        uint32_t at = 0, n = collect_next(p, &at, subjects);
        bool good = true;

        if (!n && !tracker_early_is_due(p->tracker))
                return true;
        struct trend_state s = read_state(p);
        tracker_early_was_published(p->tracker);
        do {
                good = send_part(p, subjects, n, &s, NULL) && good;
                n = collect_next(p, &at, subjects);
        } while (n > 0);
        p->trends_changed = false;
        return good;
}

bool send_trends_all(struct publisher *p, struct snapshot *to)
{
        struct subject subjects[LIMIT_TRENDS_PER_UPDATE];
        const struct trend_state s = read_state(p);
        uint32_t n, at = (uint32_t)to->row;

        do {
                if (!may_make_part(to))
                        return false;
                for (n = 0; n < LIMIT_TRENDS_PER_UPDATE && tracker_next(p->tracker, &at, &subjects[n]); n++)
                        ;
                if (n > 0 && !send_part(p, subjects, n, &s, to))
                        return false;
                to->row = at;
        } while (n == LIMIT_TRENDS_PER_UPDATE);
        return true;
}
