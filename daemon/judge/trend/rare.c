/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: of the sizes the widest that shows a leak counts, else the widest
 * that shows growth. The line runs through the real times; to be compared with
 * the other windows it is then expressed per point, an 18th of the span, and
 * its end is half a point before the window's, as theirs is.
 *
 * Silence for as long as the whole window makes the result too old.
 */
#include "daemon/judge/trend/trend.h"

#include <math.h>

#include "daemon/judge/trend/theil_sen.h"
#include "proto/base/limits.h"

#define SPAN_LEAST    LIMIT_VERDICT_STEPS /* minutes: not before any other window could be judged */
#define SAMPLES_LEAST THEIL_SEN_LEAST_AT
#define TIME_SD       0.29 /* minutes: a sample lies anywhere in its minute (1 / sqrt(12)) */

#define NARROW      ((UINT32_C(1) << WINDOWS_PER_LEVEL) - 1) /* windows of the lowest level */
#define THINS_LEAST 9u
#define THINS_BY    1.2

static const uint8_t sizes[] = { RARE_SAMPLES, 12, 8, 6, SAMPLES_LEAST };

void rare_push(struct rare *rare, uint64_t minute, double floor)
{
        if (isnan(floor))
                return;
        rare->minutes[rare->n % RARE_SAMPLES] = (uint32_t)minute;
        rare->floors[rare->n++ % RARE_SAMPLES] = (float)floor;
}

/* Oldest first; times are in minutes before the end of the newest minute. */
struct samples {
        double at[RARE_SAMPLES], floors[RARE_SAMPLES];
        unsigned n;
};

static void copy_samples(const struct rare *rare, uint64_t minutes, struct samples *ret)
{
        ret->n = rare->n < RARE_SAMPLES ? (unsigned)rare->n : RARE_SAMPLES;
        for (unsigned i = 0; i < ret->n; i++) {
                uint64_t at = (rare->n - ret->n + i) % RARE_SAMPLES;

                ret->at[i] = (double)rare->minutes[at] + 0.5 - (double)minutes;
                ret->floors[i] = (double)rare->floors[at];
        }
}

bool rare_is_sound(const struct rare *rare, uint64_t minutes)
{
        struct samples s;

        copy_samples(rare, minutes, &s);
        for (unsigned i = 0; i < s.n; i++) {
                double next = i + 1 < s.n ? s.at[i + 1] : 0;

                if (!(s.at[i] < next) || !isfinite(s.floors[i]))
                        return false;
        }
        return true;
}

static unsigned larger_of(unsigned a, unsigned b)
{
        return a > b ? a : b;
}

/* The halves share the middle sample of an odd number. */
static void fit_halves(struct window_result *r, const double *at, const double *floors, unsigned n, double point)
{
        unsigned half = (n + 1) / 2, last = larger_of(n / 3, half < 4 ? half : 4);

        r->old_slope = (float)(theil_sen_slope_at(at, floors, half) * point);
        r->new_slope = (float)(theil_sen_slope_at(at + n - half, floors + n - half, half) * point);
        r->last_slope = (float)(theil_sen_slope_at(at + n - last, floors + n - last, last) * point);
        r->clip = r->new_slope / r->old_slope; /* increments over unequal times are slopes */
}

/* The newest n samples. */
static struct window_result evaluate_samples(const struct samples *s, unsigned n, uint64_t span, const struct ladder *l,
                                             const struct life *life, uint32_t leak_after)
{
        const double *at = s->at + s->n - n, *floors = s->floors + s->n - n;
        double point = (double)span / window_points(RARE_WINDOW);
        struct theil_sen fit;

        theil_sen_fit_at(at, floors, n, &fit);
        double scatter = fit.sd + fabs(fit.slope) * TIME_SD;
        fit.se *= scatter / fit.sd;
        struct window_result r = {
                .slope = fit.slope * point,
                .end = fit.intercept - fit.slope * point / 2,
                .record = window_record(l, 1, span),
                .se = (float)(fit.se * point),
                .sd = (float)scatter,
                .life = (float)life_ratio(life),
                .sxx = (float)(fit.sxx / (point * point)),
                .ended = (uint32_t)l->minutes,
                .filled = (uint16_t)n,
        };
        fit_halves(&r, at, floors, n, point);
        r.passed = window_tests(&r, RARE_WINDOW, span, leak_after);
        return r;
}

/* Minutes closed since the newest sample. */
static uint64_t silence_of(const struct rare *rare, const struct ladder *l)
{
        return l->minutes - 1 - rare->minutes[(rare->n - 1) % RARE_SAMPLES];
}

static void judge_windows(struct windows *w, const struct rare *rare, const struct ladder *l, const struct life *life)
{
        struct samples s;
        bool grows = false;

        copy_samples(rare, l->minutes, &s);
        if (s.n < SAMPLES_LEAST || s.floors[s.n - 1] <= s.floors[0])
                return;
        for (unsigned i = 0; i < sizeof(sizes); i++) {
                if (sizes[i] > s.n)
                        continue;
                uint64_t span = (uint64_t)(0.5 - s.at[s.n - sizes[i]]);
                if (span > LADDER_MINUTES)
                        continue;
                if (span < SPAN_LEAST || silence_of(rare, l) >= span)
                        return;
                struct window_result r = evaluate_samples(&s, sizes[i], span, l, life, w->leak_after);
                bool leaks = window_has(&r, TESTS_LEAKS);
                if (leaks || (!grows && window_has(&r, TESTS_GROWS))) {
                        windows_put(w, RARE_WINDOW, &r);
                        w->rare_span = (uint32_t)span;
                        grows = true;
                }
                if (leaks)
                        return;
        }
}

uint64_t rare_lasts(const struct windows *w, const struct rare *rare, const struct ladder *ladder)
{
        if (!windows_result(w, RARE_WINDOW)->filled)
                return UINT64_MAX;
        uint64_t silent = silence_of(rare, ladder);
        return silent < w->rare_span ? w->rare_span - silent : 0;
}

/* Whether samples come at growing distances: the newer half of them took longer than the older half. */
static bool thins_out(const struct rare *rare, const struct ladder *l)
{
        struct samples s;

        copy_samples(rare, l->minutes, &s);
        if (s.n < THINS_LEAST)
                return false;
        unsigned half = (s.n - 1) / 2;
        const double *at = s.at + s.n - 1 - 2 * half;
        return at[2 * half] - at[half] > THINS_BY * (at[half] - at[0]);
}

/* Where samples thin out, wide windows are still full of an earlier time and do not decide about this one. */
bool rare_is_needed(const struct windows *w, const struct rare *rare, const struct ladder *ladder)
{
        uint32_t deciding = windows_deciding(w);

        return !(deciding & NARROW) && (!deciding || thins_out(rare, ladder));
}

void rare_judge(struct windows *w, const struct rare *rare, const struct ladder *ladder, const struct life *life,
                bool was_needed)
{
        static const struct window_result none = { .filled = 0 };
        bool sampled = !isnan(ladder_floor(ladder, 0, 0)), needed = rare_is_needed(w, rare, ladder);

        if (windows_result(w, RARE_WINDOW)->filled && (!needed || sampled || rare_lasts(w, rare, ladder) == 0))
                windows_put(w, RARE_WINDOW, &none);
        if (needed && (sampled || !was_needed))
                judge_windows(w, rare, ladder, life);
}
