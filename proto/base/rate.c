/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/rate.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/text_out.h"

#define LEAST_KIB 1023.5 /* from here on hw_bytes_text shows 1.00 KiB */

struct rate_unit rate_unit(double bytes_per_s)
{
        static const struct {
                double seconds;
                const char *names[7];
        } periods[] = {
                { 1, { "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s", "EiB/s" } },
                { 60, { "B/min", "KiB/min" } },
                { 3600, { "B/h", "KiB/h" } },
        };
        double rate = isfinite(bytes_per_s) ? fabs(bytes_per_s) : 0, unit = 1;
        size_t period = 0, prefix = 0;

        while (rate > 0 && period < 2 && rate * periods[period].seconds < LEAST_KIB)
                period++;
        for (rate *= periods[period].seconds; prefix < 6 && rate >= LEAST_KIB && periods[period].names[prefix + 1];
             prefix++) {
                rate /= 1024;
                unit *= 1024;
        }
        return (struct rate_unit){ unit / periods[period].seconds, periods[period].names[prefix] };
}

double rate_greater(double magnitude, double bytes_per_s)
{
        return isfinite(bytes_per_s) ? fmax(magnitude, fabs(bytes_per_s)) : magnitude;
}

struct rate_unit rate_unit_within(double bytes_per_s, double low, double high)
{
        bool sure = low > 0 || high < 0;

        return rate_unit(sure ? bytes_per_s : rate_greater(rate_greater(rate_greater(0, bytes_per_s), low), high));
}

static int decimals_for(double value)
{
        if (value >= 0.995)
                return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        return value >= 0.0995 ? 2 : value >= 0.00995 ? 3 : 4;
}

char *rate_text(char *out, size_t size, struct rate_unit unit, double bytes_per_s)
{
        double value = fabs(bytes_per_s) / unit.bytes_per_s;
        char number[DECIMAL_MAX];

        if (!isfinite(bytes_per_s))
                (void)snprintf(out, size, "?");
        else if (value == 0)
                (void)snprintf(out, size, "0 %s", unit.name);
        else if (value < 0.00005)
                (void)snprintf(out, size, "~0 %s", unit.name);
        else if (value >= 1e15)
                (void)snprintf(out, size, "%s>1e15 %s", bytes_per_s < 0 ? "-" : "", unit.name);
        else
                (void)snprintf(out, size, "%s%s %s", bytes_per_s < 0 ? "-" : "",
                               decimal_fixed(number, value, decimals_for(value)), unit.name);
        return out;
}

char *rate_within_text(char out[RATE_WITHIN_MAX], struct rate_unit unit, double bytes_per_s, double low, double high)
{
        char rate[HW_NUMBER_MAX], from[HW_NUMBER_MAX], to[HW_NUMBER_MAX];

        if (bytes_per_s != 0 && fabs(bytes_per_s) < (high - low) / 1000)
                (void)snprintf(rate, sizeof(rate), "~0 %s", unit.name);
        else
                (void)rate_text(rate, sizeof(rate), unit, bytes_per_s);
        (void)rate_text(from, sizeof(from), unit, low);
        (void)rate_text(to, sizeof(to), unit, high);
        if (strcmp(from, to) != 0)
                (void)snprintf(out, RATE_WITHIN_MAX, "%s (%s to %s)", rate, from, to);
        else
                (void)snprintf(out, RATE_WITHIN_MAX, "%s", rate);
        return out;
}

char *hw_rate_text(char *out, size_t size, double bytes_per_s)
{
        return rate_text(out, size, rate_unit(bytes_per_s), bytes_per_s);
}

char *count_rate_text(char out[COUNT_RATE_MAX], double per_s)
{
        const double magnitude = fabs(per_s);
        const bool seconds = magnitude >= 1, minutes = magnitude * 60 >= 1;
        const double rate = per_s * (seconds ? 1 : minutes ? 60 : 3600);

        (void)snprintf(out, COUNT_RATE_MAX, "%+.*f/%s", fabs(rate) < 9.95 ? 1 : 0, rate,
                       seconds   ? "s"
                       : minutes ? "min"
                                 : "h");
        return out;
}
