/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: Hoare's FIND (CACM 4, 1961) with the middle of three as the pivot:
 * linear on average. At most a few hundred values come here, so even the
 * quadratic worst case is some 10^4 steps. The parting has no branch that
 * depends on a value: guessed wrongly half of the time, that branch took more
 * than all the rest.
 */
#include "trend/median.h"

#include <math.h>
#include <stdbool.h>

static double middle_of_three(double a, double b, double c)
{
        double low = a < b ? a : b, high = a < b ? b : a;

        return c < low ? low : c > high ? high : c;
}

/* Moves the values of v[left..right] that are below the pivot (or, if `equal`, not above) to its front; their end. */
static inline size_t part(double *v, size_t left, size_t right, double pivot, bool equal)
{
        size_t end = left;

        for (size_t i = left; i <= right; i++) {
                double x = v[i];
                v[i] = v[end];
                v[end] = x;
                end += equal ? x <= pivot : x < pivot;
        }
        return end;
}

/* Reorders v so that v[k] is what it would be if sorted, with nothing larger before it. */
static void find(double *v, size_t n, size_t k)
{
        size_t left = 0, right = n - 1;

        while (left < right) {
                double pivot = middle_of_three(v[left], v[left + (right - left) / 2], v[right]);
                size_t below = part(v, left, right, pivot, false);
                if (k < below) {
                        right = below - 1;
                        continue;
                }
                size_t equal = part(v, below, right, pivot, true); /* at least the pivot itself */
                if (k < equal)
                        return;
                left = equal;
        }
}

double median_of(double *v, size_t n)
{
        if (n == 0)
                return NAN;
        size_t upper = n / 2;
        find(v, n, upper);
        if (n % 2)
                return v[upper];
        double lower = v[0];
        for (size_t i = 1; i < upper; i++)
                lower = v[i] > lower ? v[i] : lower;
        return (lower + v[upper]) / 2;
}
