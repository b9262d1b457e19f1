/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/meter.h"
#include "proto/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MOST 30u /* runs of a group up to which rank sums are counted; above, they are as good as normal */

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Those that are not NaN, in ascending order. NULL when out of memory. */
static double *sorted_copy(const double *values, size_t n, size_t *ret_n)
{
        double *out = malloc((n + 1) * sizeof(*out));

        *ret_n = 0;
        for (size_t i = 0; out && i < n; i++)
                if (!isnan(values[i]))
                        out[(*ret_n)++] = values[i];
        if (out)
                qsort(out, *ret_n, sizeof(*out), by_value);
        return out;
}

static double median_of(const double *rising, size_t n)
{
        if (n == 0)
                return NAN;
        return n % 2 ? rising[n / 2] : (rising[n / 2 - 1] + rising[n / 2]) / 2;
}

double shift_median(const double *values, size_t n)
{
        size_t known;
        double *rising = sorted_copy(values, n, &known), median = rising ? median_of(rising, known) : NAN;

        free(rising);
        return median;
}

/* Quantiles of Student's t, 0.975, by degrees of freedom. */
double shift_t(unsigned freedom)
{
        static const double t[] = { NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                    2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
                                    2.074, 2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };

        if (freedom < ARRAY_SIZE(t))
                return t[freedom];
        return 1.960 + 2.4 / freedom; /* off by less than 0.002 */
}

/* --------------------------------------------------------------------- ranks */

/*
 * How many orders of m of a's runs and n of b's have u pairs in which a's exceeds b's, for each u: the coefficient of
 * q^u in the Gaussian binomial, by f(m, n, u) = f(m - 1, n, u - n) + f(m, n - 1, u).
 */
static double *ways_of(unsigned m, unsigned n)
{
        size_t top = (size_t)m * n;
        double *f = calloc((m + 1) * (top + 1), sizeof(*f)); /* f[k]: k of a's, over the j of b's so far */

        if (!f)
                return NULL;
        for (unsigned k = 0; k <= m; k++)
                f[k * (top + 1)] = 1; /* j = 0: the sum is 0 */
        for (unsigned j = 1; j <= n; j++)
                for (unsigned k = 1; k <= m; k++) /* f[k] still has j - 1, f[k - 1] has j already */
                        for (size_t u = top + 1; u-- > 0;)
                                if (u >= j)
                                        f[k * (top + 1) + u] += f[(k - 1) * (top + 1) + u - j];
        memmove(f, f + m * (top + 1), (top + 1) * sizeof(*f));
        return f;
}

/* Ways in which the rank sum is below `cut`, as a share of all. */
static double share_below(const double *ways, size_t top, size_t cut)
{
        double below = 0, all = 0;

        for (size_t u = 0; u <= top; u++) {
                all += ways[u];
                below += u < cut ? ways[u] : 0;
        }
        return below / all;
}

/* How many of the sorted differences are outside the interval at each end, and its level. 0: 95 % is not reached. */
static size_t cut_exactly(unsigned m, unsigned n, double *ret_level)
{
        size_t top = (size_t)m * n, cut = 0;
        double *ways = ways_of(m, n);

        while (ways && cut < top / 2 && share_below(ways, top, cut + 1) <= (1 - SHIFT_LEVEL) / 2)
                cut++;
        *ret_level = ways && cut ? 1 - 2 * share_below(ways, top, cut) : 0;
        free(ways);
        return cut;
}

static size_t cut_by_normal(size_t m, size_t n, double *ret_level)
{
        double mean = (double)m * (double)n / 2;
        double deviation = sqrt((double)m * (double)n * (double)(m + n + 1) / 12);

        *ret_level = SHIFT_LEVEL;
        return (size_t)(mean - 1.960 * deviation);
}

/* ----------------------------------------------------------------- intervals */

static double sum_of_squares(const double *values, size_t n)
{
        double mean = 0, sum = 0;

        for (size_t i = 0; i < n; i++)
                mean += values[i] / (double)n;
        for (size_t i = 0; i < n; i++)
                sum += (values[i] - mean) * (values[i] - mean);
        return sum;
}

static void shift_around(struct shift *s, double half, enum shift_basis basis)
{
        s->low = s->by - half;
        s->high = s->by + half;
        s->level = SHIFT_LEVEL;
        s->basis = basis;
}

static int shift_of_samples(const double *a, size_t m, const double *b, size_t n, const struct noise *of_a,
                            const struct noise *of_b, struct shift *s)
{
        double *rising = malloc(m * n * sizeof(*rising)); /* the differences of all pairs */
        size_t cut;

        if (!rising)
                return -ENOMEM;
        for (size_t i = 0; i < m; i++)
                for (size_t k = 0; k < n; k++)
                        rising[i * n + k] = a[i] - b[k];
        qsort(rising, m * n, sizeof(*rising), by_value);
        s->known = true;
        s->by = median_of(rising, m * n);
        cut = m > EXACT_MOST || n > EXACT_MOST ? cut_by_normal(m, n, &s->level)
                                               : cut_exactly((unsigned)m, (unsigned)n, &s->level);
        if (cut) {
                s->low = rising[cut - 1];
                s->high = rising[m * n - cut];
                s->basis = SHIFT_RANKS;
        } else if (m + n > 2) {
                unsigned freedom = (unsigned)(m + n - 2);
                double variance = (sum_of_squares(a, m) + sum_of_squares(b, n)) / freedom;
                shift_around(s, shift_t(freedom) * sqrt(variance * (1 / (double)m + 1 / (double)n)), SHIFT_STUDENT);
        } else if (of_a && of_b && of_a->known && of_b->known) {
                unsigned freedom = of_a->freedom < of_b->freedom ? of_a->freedom : of_b->freedom;
                shift_around(s, shift_t(freedom) * hypot(of_a->error, of_b->error), SHIFT_WITHIN);
        }
        free(rising);
        return 0;
}

int shift_between(const struct sample *a, const struct sample *b, struct shift *ret)
{
        size_t m, n;
        double *x = sorted_copy(a->values, a->n, &m), *y = sorted_copy(b->values, b->n, &n);
        int r = x && y ? 0 : -ENOMEM;

        *ret = (struct shift){ .by = NAN, .low = NAN, .high = NAN };
        if (r == 0 && m && n)
                r = shift_of_samples(x, m, y, n, a->noise, b->noise, ret);
        free(x);
        free(y);
        return r;
}
