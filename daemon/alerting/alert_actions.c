/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/alerting/alert_actions.h"

#include "daemon/alerting/outcomes.h"
#include "daemon/alerting/silence_store.h"
#include "proto/base/clock.h"
#include "proto/base/process.h"

static struct alert_result result_of(const Hw__ActionResult *r)
{
        return (struct alert_result){
                .kind = r->kind,
                .detail = r->detail && r->detail[0] ? r->detail : NULL,
                .under_way = !r->has_ok,
                .ok = r->ok,
                .wall_ns = r->has_ok && r->has_wall_ns ? r->wall_ns : UNKNOWN_U64,
                .attempts = r->attempts,
                .step = r->step,
        };
}

static void extra(void *ctx, const char *target, const struct alert *alert, struct alert_extra *ret)
{
        const struct alert_actions *a = ctx;
        const struct silence *silence = silence_store_find(a->silences, alert->rule->name, target);
        const Hw__AlertOutcome *outcome = outcomes_find(a->outcomes, alert->fingerprint, clock_mono_ns());

        if (silence) {
                ret->silenced = true;
                ret->silenced_until_wall_ns = silence->until_wall_ns;
                ret->silenced_why = silence->why[0] ? silence->why : NULL;
        }
        if (a->fires && alert->state.now == ALERT_FIRING && alert->rule->plan)
                a->fires(a->ctx);
        for (size_t i = 0; outcome && i < outcome->n_actions && i < ALERT_RESULTS_MAX; i++)
                ret->results[ret->n_results++] = result_of(outcome->actions[i]);
}

static void image(void *ctx, struct image *im, uint64_t alert)
{
        outcomes_image(im, ((const struct alert_actions *)ctx)->outcomes, alert, clock_mono_ns());
}

struct alert_hooks alert_actions_hooks(struct alert_actions *actions)
{
        return (struct alert_hooks){ .ctx = actions, .extra = extra, .image = image };
}
