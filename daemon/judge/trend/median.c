/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: Hoare's FIND (CACM 4, 1961) with the median of three as the pivot: linear on average. There are at most a few
 * hundred values, so even the quadratic worst case is some 10^4 steps. Each step partitions the values into those below
 * the pivot, in place, and those above it, in a second buffer; those equal to it need no room. Every value is written
 * to both and only the ends move: no branch depends on a value (mispredicted half of the time, that branch took more
 * than all the rest), and no store is read again in the same pass (swapping in place waited for its own stores).
 */
#include "daemon/judge/trend/theil_sen.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

static double middle_of_three(double a, double b, double c)
{
        double low = a < b ? a : b, high = a < b ? b : a;

        return c < low ? low : c > high ? high : c;
}

static double largest(const double *v, size_t n)
{
        double most = v[0];

        for (size_t i = 1; i < n; i++)
                most = v[i] > most ? v[i] : most;
        return most;
}

double median_of(double *v, size_t n)
{
        double room[MEDIAN_MAX], *other = room, before = NAN; /* the largest value left out below v */
        size_t k = n / 2;
        bool even = n % 2 == 0;

        assert(n <= MEDIAN_MAX);
        if (n == 0)
                return NAN;
        for (;;) {
                double pivot = middle_of_three(v[0], v[n / 2], v[n - 1]);
                size_t below = 0, above = 0;
                for (size_t i = 0; i < n; i++) {
                        double x = v[i];
                        v[below] = x;
                        other[above] = x;
                        below += x < pivot;
                        above += x > pivot;
                }
                if (k < below) {
                        n = below;
                } else if (k >= n - above) {
                        double *swap = v;
                        k -= n - above;
                        n = above;
                        before = pivot;
                        v = other;
                        other = swap;
                } else if (!even || k > below) {
                        return pivot;
                } else {
                        return ((below ? largest(v, below) : before) + pivot) / 2;
                }
        }
}
