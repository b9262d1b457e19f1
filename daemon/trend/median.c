/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: Hoare's FIND (CACM 4, 1961) with the middle of three as the pivot:
 * linear on average. At most a few hundred values come here, so even the
 * quadratic worst case is some 10^4 steps; nothing cleverer would pay.
 */
#include "trend/median.h"

#include <math.h>

static double middle_of_three(double a, double b, double c)
{
        double low = a < b ? a : b, high = a < b ? b : a;

        return c < low ? low : c > high ? high : c;
}

/* Reorders v so that v[k] is what it would be if sorted, with nothing larger before it. */
static void find(double *v, size_t n, size_t k)
{
        size_t left = 0, right = n - 1;

        while (left < right) {
                double pivot = middle_of_three(v[left], v[left + (right - left) / 2], v[right]);
                size_t i = left, j = right;

                /* The pivot is one of the values, so neither scan leaves [left, right]. */
                while (i <= j) {
                        while (v[i] < pivot)
                                i++;
                        while (v[j] > pivot)
                                j--;
                        if (i > j)
                                break;
                        double swap = v[i];
                        v[i++] = v[j];
                        v[j] = swap;
                        if (j == 0)
                                break;
                        j--;
                }
                if (k <= j)
                        right = j;
                else if (k >= i)
                        left = i;
                else
                        return;
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
