/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - numbers and texts for people. */
#include "client/console/draw/widgets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/number_text.h"

char *rate_in_unit(char *out, size_t size, enum unit unit, struct rate_unit in, double bytes_per_s)
{
        bool plus = unit == UNIT_SLOPE && bytes_per_s > 0 && size > 1;

        if (plus)
                *out = '+';
        (void)rate_text(out + plus, size - plus, in, bytes_per_s);
        if (plus && out[1] == '~') /* "~0" has no sign */
                memmove(out, out + 1, strlen(out));
        return out;
}

char *unit_text(char *out, size_t size, enum unit unit, double n)
{
        switch (unit) {
        case UNIT_BYTES:
                (void)hw_bytes_text(out, size, n);
                break;
        case UNIT_CHANGE:
                (void)snprintf(out, size, "%s%s", n > 0 ? "+" : n < 0 ? "-" : "", BYTES_TEXT(fabs(n)));
                break;
        case UNIT_RATE:
        case UNIT_SLOPE:
                (void)rate_in_unit(out, size, unit, rate_unit(n), n);
                break;
        case UNIT_INTEGRAL:
                (void)hw_bytes_text(out, size, n);
                size_t used = strlen(out);

                (void)snprintf(out + used, size - used, "%s", "·s");
                break;
        case UNIT_NS:
        case UNIT_WHEN:
                (void)hw_duration_text(out, size, n);
                break;
        case UNIT_SHARE:
                (void)hw_share_text(out, size, n);
                break;
        case UNIT_COUNT:
                (void)hw_count_text(out, size, u64_sat(n));
                break;
        default:
                (void)snprintf(out, size, fabs(n) < 1e5 ? "%.2f" : "%.3g", n);
                break;
        }
        return out;
}

static char *unknown(char *out)
{
        (void)snprintf(out, SHORT_TEXT, "%s", UNKNOWN_TEXT);
        return out;
}

char *duration_or_unknown(char *out, bool known, uint64_t ns)
{
        return known ? hw_duration_text(out, SHORT_TEXT, (double)ns) : unknown(out);
}

char *share_or_unknown(char *out, bool known, double share)
{
        return known ? hw_share_text(out, SHORT_TEXT, share) : unknown(out);
}

char *age_text(char *out, size_t size, uint64_t ns)
{
        unsigned seconds = ns < UINT64_C(60000000000) ? (unsigned)(ns / 1000000000) : 60;

        if (seconds == 60)
                return hw_duration_text(out, size, (double)ns);
        (void)snprintf(out, size, "%u s", seconds);
        return out;
}

char *time_of_day(char *out, size_t size, uint64_t wall_ns, uint64_t now_wall_ns)
{
        time_t seconds = (time_t)(wall_ns / 1000000000);
        uint64_t age_h = now_wall_ns > wall_ns ? (now_wall_ns - wall_ns) / UINT64_C(3600000000000) : 0;
        struct tm t;
        size_t n = 0;

        if (localtime_r(&seconds, &t))
                n = age_h < 20       ? strftime(out, size, "%H:%M:%S", &t)
                    : age_h < 6 * 24 ? strftime(out, size, "   %H:%M", &t)
                                     : strftime(out, size, "%d %b", &t);
        if (!n)
                *out = '\0';
        else if (*out == ' ') /* as narrow as a time with seconds */
                memcpy(out, &"SuMoTuWeThFrSa"[2 * t.tm_wday], 2);
        return out;
}
