/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/alerting/alert_actions.h"

#include "daemon/act/act.h"
#include "proto/base/process.h"

static void changed(void *ctx, const struct notice *notice, struct act_plan *plan)
{
        act_take(ctx, notice, plan);
}

static struct alert_result result_of(const struct act_report *r)
{
        bool under_way = r->outcome == ACT_UNDER_WAY;

        return (struct alert_result){
                .kind = act_kind_name(r->kind),
                .detail = r->detail[0] ? r->detail : NULL,
                .under_way = under_way,
                .ok = r->outcome == ACT_DONE,
                .wall_ns = under_way ? UNKNOWN_U64 : r->wall_ns,
                .attempts = r->attempts,
        };
}

static void extra(void *ctx, const char *target, const struct alert *alert, struct alert_extra *ret)
{
        const struct silence *silence = act_silence_of(ctx, alert->rule->name, target);
        size_t n = 0;
        const struct act_report *reports = act_results(ctx, alert->fingerprint, &n);

        if (silence) {
                ret->silenced = true;
                ret->silenced_until_wall_ns = silence->until_wall_ns;
                ret->silenced_why = silence->why[0] ? silence->why : NULL;
        }
        for (size_t i = 0; i < n && i < ALERT_RESULTS_MAX; i++)
                ret->results[ret->n_results++] = result_of(&reports[i]);
}

struct alert_hooks alert_actions(struct act *act)
{
        return (struct alert_hooks){ .ctx = act, .changed = changed, .extra = extra };
}
