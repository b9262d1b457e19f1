/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/config/config.h"

#include "proto/base/limits.h"
#include "heapwatch/text.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define STEPS_OF_A_LOG 400u /* more than the 200 after which a leak can be seen */

/* leak_after alone sets the resolution, to a 180th. */
static uint64_t resolution_for(uint64_t leak_after_ns)
{
        uint64_t ns = leak_after_ns / TREND_LEAK_AFTER_MINUTES;

        return ns < LIMIT_RESOLUTION_LEAST_NS  ? LIMIT_RESOLUTION_LEAST_NS
               : ns > LIMIT_RESOLUTION_MOST_NS ? LIMIT_RESOLUTION_MOST_NS
                                               : ns;
}

bool config_trend_check(const struct config_trend *c, struct error *error)
{
        char least[HW_NUMBER_MAX], most[HW_NUMBER_MAX];
        struct tracker_config tracker = config_trend_tracker(c, 0);
        uint64_t resolution_ns = tracker.trend.resolution_ns;

        if (trend_config_valid(&tracker.trend))
                return true;
        return error_set(error, "leak_after: with a resolution of %s it is from %s to %s",
                         hw_duration_text((char[HW_NUMBER_MAX]){ 0 }, HW_NUMBER_MAX, (double)resolution_ns),
                         hw_duration_text(least, sizeof(least), (double)resolution_ns * TREND_LEAK_AFTER_LEAST),
                         hw_duration_text(most, sizeof(most), (double)resolution_ns * LADDER_MINUTES));
}

/* The largest round step of which the log has at least STEPS_OF_A_LOG. */
static uint64_t step_of_log(uint64_t length_ns)
{
        static const unsigned steps_ms[] = { 60000, 30000, 15000, 10000, 5000, 2000, 1000, 500, 250, 100 };
        const size_t n = ARRAY_SIZE(steps_ms);

        for (size_t i = 0; i < n; i++)
                if (length_ns / STEPS_OF_A_LOG >= steps_ms[i] * UINT64_C(1000000))
                        return steps_ms[i] * UINT64_C(1000000);
        return LIMIT_RESOLUTION_LEAST_NS;
}

struct tracker_config config_trend_tracker(const struct config_trend *c, uint64_t length_ns)
{
        uint64_t resolution_ns = c->resolution_ns;
        bool automatic = !resolution_ns && !c->leak_after_ns && length_ns > 0;

        if (!resolution_ns)
                resolution_ns = c->leak_after_ns ? resolution_for(c->leak_after_ns)
                                : automatic      ? step_of_log(length_ns)
                                                 : TREND_MINUTE_NS;
        struct tracker_config t = tracker_config_scaled(resolution_ns);
        t.automatic = automatic;
        if (c->leak_after_ns)
                t.trend.leak_after_ns = c->leak_after_ns;
        if (c->limit_bytes)
                t.given_limit_bytes = c->limit_bytes;
        return t;
}
