/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert_actions.h"

#include "act/act.h"

static void changed(void *ctx, const struct notice *notice, struct act_plan *plan)
{
        act_take(ctx, notice, plan);
}

static void extra(void *ctx, const char *target, const struct alert *alert, struct alert_extra *ret)
{
        const struct silence *silence = act_silence_of(ctx, alert->rule->name, target);
        size_t n = 0;
        const struct act_report *reports = act_results(ctx, alert->fingerprint, &n);

        if (silence) {
                ret->silenced = true;
                ret->silenced_until_wall_ns = silence->until_wall_ns;
                ret->silenced_why = silence->why;
        }
        for (size_t i = 0; reports && i < n && i < ALERT_RESULTS_MAX; i++)
                ret->results[ret->n_results++] = (struct alert_result){
                        .kind = act_kind_name(reports[i].kind),
                        .detail = reports[i].detail,
                        .ok = reports[i].outcome == ACT_DONE,
                        .wall_ns = reports[i].wall_ns,
                        .attempts = reports[i].attempts,
                };
}

struct alert_hooks alert_actions(struct act *act)
{
        return (struct alert_hooks){ .ctx = act, .changed = changed, .extra = extra };
}
