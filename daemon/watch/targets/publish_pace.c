/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/pipeline_internal.h"

#include "proto/base/ckd.h"

void publish_pace_flushed(struct publish_pace *p, uint64_t began_ns, uint64_t ended_ns)
{
        uint64_t took = sub_sat(ended_ns, began_ns);
        uint64_t rest = took < PACE_REST_MOST_NS / PACE_REST ? PACE_REST * took : PACE_REST_MOST_NS;

        p->flushed_ns = ended_ns;
        p->rest_ns = rest > PACE_INTERVAL_NS ? rest : PACE_INTERVAL_NS;
}

uint64_t publish_pace_wait_ns(const struct publish_pace *p, uint64_t now_ns)
{
        return sub_sat(p->rest_ns, sub_sat(now_ns, p->flushed_ns));
}
