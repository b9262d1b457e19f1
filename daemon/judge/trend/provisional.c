/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/trend.h"

#include <math.h>

#include "daemon/judge/trend/theil_sen.h"
#include "daemon/judge/trend/windows.h"

/*
 * The line through all of n points or, where they bend, through the newer half: one line through both would say of
 * growth that began a few minutes ago that there is none. The points used are the newest *ret_n.
 */
static bool fit_so_far(const double *p, unsigned n, struct theil_sen *fit, unsigned *ret_n)
{
        struct theil_sen newer;

        if (!theil_sen_fit(p, n, fit))
                return false;
        *ret_n = n;
        for (unsigned half = n / 2; theil_sen_fit(p + n - half, half, &newer) && newer.sd < fit->sd / WINDOWS_BEND;
             half /= 2) {
                *fit = newer;
                *ret_n = half;
        }
        return true;
}

/* n buckets of that width. Not known where it may as well rise as fall. */
static struct trend_provisional line_of(const struct theil_sen *fit, unsigned n, uint64_t width_ns)
{
        double per_s = 1e9 / (double)width_ns, half = WINDOW_INTERVAL_SE * fit->se;

        return (struct trend_provisional){
                .known = fabs(fit->slope) > half,
                .slope = fit->slope * per_s,
                .slope_low = (fit->slope - half) * per_s,
                .slope_high = (fit->slope + half) * per_s,
                .span_ns = n * width_ns,
        };
}

/* At most THEIL_SEN_MAX buckets: rare samples fill wider ones. */
struct trend_provisional provisional_line(const struct ladder *ladder, uint64_t resolution_ns)
{
        double p[THEIL_SEN_MAX];
        struct theil_sen fit;

        for (unsigned level = 0; level < LADDER_LEVELS; level++) {
                unsigned kept = ladder_kept(ladder, level), n = kept < THEIL_SEN_MAX ? kept : THEIL_SEN_MAX;

                if (n == 0)
                        break;
                ladder_newest(ladder, level, n, p);
                if (fit_so_far(p, n, &fit, &n))
                        return line_of(&fit, n, ladder_width(level) * resolution_ns);
        }
        return (struct trend_provisional){ .known = false };
}

struct trend_provisional provisional_rise(const struct ladder *ladder, uint64_t resolution_ns)
{
        struct theil_sen fit;
        unsigned n = windows_rise_lately(ladder, &fit);

        return n ? line_of(&fit, n, resolution_ns) : (struct trend_provisional){ .known = false };
}
