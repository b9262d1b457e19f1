/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trend_json.c - DESIGN: the wire's message, reassembled from the world, and with it the account of resident memory and
 * the labels of bands.
 */
#include <stdlib.h>

#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/commands/trend.h"
#include "proto/base/ckd.h"
#include "proto/wire/message.h"

static void put_trends(struct json_out *j, const struct world_target *t)
{
        Hw__Trends message = HW__TRENDS__INIT;
        Hw__Trend **all = calloc(SERIES_COUNT + (size_t)t->n_bands, sizeof(*all));

        if (t->trend_state)
                message = *t->trend_state;
        message.trends = all;
        message.n_trends = 0;
        for (size_t i = 0; all && i < SERIES_COUNT; i++)
                if (t->trends[i])
                        all[message.n_trends++] = (Hw__Trend *)t->trends[i];
        for (uint32_t i = 0; all && i < t->n_bands; i++)
                if (t->bands[i] && t->bands[i]->trend)
                        all[message.n_trends++] = (Hw__Trend *)t->bands[i]->trend;
        json_key(j, "trends");
        if (all)
                json_message(j, &message.base, true);
        else
                json_none(j);
        free(all);
}

/* Of when live data is: a program may go long without a major collection. */
static void put_live(struct json_out *j, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;

        if (!h || !h->has_live_bytes || !h->has_live_time_ns)
                return;
        json_member_open(j, "live", '{');
        json_member_u64_string(j, "timeNs", h->live_time_ns);
        json_member_u64_string(j, "ageNs", sub_sat(world_known_until_ns(t), h->live_time_ns));
        json_member_u64_string(j, "bytes", h->live_bytes);
        json_close(j, '}');
}

/* What keeps what grows alive, if an alert has found that out; kept with bundles. */
static void put_why(struct json_out *j, const struct world_target *t, bool live)
{
        struct answers answers;

        answers_of(&answers, t, !world_is_over(t, live));
        const struct target_answer *why = &answers.answer[QUESTION_WHY];
        if (!why->text[0])
                return;
        json_member_open(j, "why", '{');
        json_member_text(j, "text", why->text);
        if (why->has_time)
                json_member_u64_string(j, "timeNs", why->time_ns);
        json_close(j, '}');
}

void trend_json(FILE *to, const struct world_target *t, bool live)
{
        struct json_out j = { .to = to };

        json_open(&j, '{');
        json_member_text(&j, "target", t->name);
        json_member_u64(&j, "run", t->run);
        put_trends(&j, t);
        json_key(&j, "resident");
        if (t->heap && t->heap->resident)
                json_message(&j, &t->heap->resident->base, true);
        else
                json_none(&j);
        json_member_open(&j, "labels", '{');
        for (uint32_t i = 0; i < t->n_bands; i++) {
                char id[16];
                if (!t->bands[i] || !t->bands[i]->trend)
                        continue;
                (void)snprintf(id, sizeof(id), "%u", t->bands[i]->id);
                json_member_text(&j, id, t->bands[i]->def->label);
        }
        json_close(&j, '}');
        put_live(&j, t);
        census_age_print(&j, t, !world_is_over(t, live), true);
        put_why(&j, t, live);
        json_close(&j, '}');
        json_newline(&j);
}

static Hw__Verdict stronger(Hw__Verdict worst, const Hw__Trend *t)
{
        return t && t->has_verdict && t->verdict > worst ? t->verdict : worst;
}

Hw__Verdict trend_worst(const struct world_target *t)
{
        Hw__Verdict worst = HW__VERDICT__VERDICT_UNKNOWN;

        for (size_t i = 0; i < SERIES_COUNT; i++)
                worst = stronger(worst, t->trends[i]);
        for (uint32_t i = 0; i < t->n_bands; i++)
                worst = stronger(worst, t->bands[i] ? t->bands[i]->trend : NULL);
        return worst;
}
