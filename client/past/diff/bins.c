/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/meter.h"

#include <math.h>

#define FIRST_WIDTH_NS 1000000u
#define BATCHES        16u
#define BATCHES_LEAST  8u
#define CORRELATION    0.9 /* at most, since the correction is unbounded */

static const struct fold_shape shape = { CELL_TYPE, BINS, 1, FIRST_WIDTH_NS };

void bins_add(struct bins *b, uint64_t from_ns, uint64_t to_ns, double v0, double v1)
{
        double slope = to_ns > from_ns ? (v1 - v0) / (double)(to_ns - from_ns) : 0;

        if (!b->fold.width_ns)
                b->first_ns = from_ns;
        if (to_ns <= from_ns || from_ns < b->first_ns)
                return;
        b->lines++;
        b->fold.cells = b->bin;
        (void)fold_cell(&shape, &b->fold, to_ns - 1 - b->first_ns); /* widens the bins first, if need be */
        for (uint64_t at = from_ns, end; at < to_ns; at = end) {
                struct cell *bin = fold_cell(&shape, &b->fold, at - b->first_ns);
                uint64_t left = b->fold.width_ns - (at - b->first_ns) % b->fold.width_ns;
                end = left < to_ns - at ? at + left : to_ns;
                double v = v0 + slope * (double)(at - from_ns);
                double w = end == to_ns ? v1 : v0 + slope * (double)(end - from_ns);
                const struct cell piece = { end - at, (v + w) / 2, fmin(v, w), fmax(v, w), w, end };
                cell_merge(bin, &piece);
        }
}

/* ------------------------------------------------------------------- reading */

static struct cell total(const struct bins *b)
{
        struct cell all = { .n = 0 };

        for (unsigned i = 0; i < b->fold.n; i++)
                cell_merge(&all, &b->bin[i]);
        return all;
}

double bins_mean(const struct bins *b)
{
        struct cell all = total(b);

        return all.n ? all.mean : NAN;
}

uint64_t bins_covered(const struct bins *b)
{
        return total(b).n;
}

/* --------------------------------------------------------------------- noise */

/* Consecutive intervals with data, each of 2 or 4 bins; the last one counts if it is at least half full. */
static unsigned batches(const struct bins *b, struct cell out[BATCHES])
{
        unsigned used = b->fold.n, of = used > BATCHES * 2 ? 4 : used > BATCHES ? 2 : 1, n = 0;

        for (unsigned i = 0; i < used; i += of) {
                struct cell batch = b->bin[i];
                for (unsigned k = 1; k < of && i + k < used; k++)
                        cell_merge(&batch, &b->bin[i + k]);
                if (batch.n * 2 >= of * b->fold.width_ns)
                        out[n++] = batch;
        }
        return n;
}

/* Subtracts the least-squares line. */
static void detrend(double *v, unsigned n)
{
        double mean = 0, sxy = 0, sxx = 0, centre = (n - 1) / 2.0;

        for (unsigned i = 0; i < n; i++)
                mean += v[i] / n;
        for (unsigned i = 0; i < n; i++) {
                sxy += (i - centre) * (v[i] - mean);
                sxx += (i - centre) * (i - centre);
        }
        for (unsigned i = 0; i < n; i++)
                v[i] -= mean + sxy / sxx * (i - centre);
}

static double deviation(const double *v, unsigned n)
{
        double sum = 0;

        for (unsigned i = 0; i < n; i++)
                sum += v[i] * v[i];
        return sqrt(sum / (n - 2));
}

static double correlation(const double *v, unsigned n)
{
        double sum = 0, next = 0;

        for (unsigned i = 0; i < n; i++) {
                sum += v[i] * v[i];
                next += i + 1 < n ? v[i] * v[i + 1] : 0;
        }
        return sum > 0 ? fmin(fmax(next / sum, 0), CORRELATION) : 0;
}

/* The mean or the peak of each batch, detrended. Returns how many; 0: too few. */
static unsigned residuals(const struct bins *b, bool peaks, double v[BATCHES])
{
        struct cell batch[BATCHES];
        unsigned n = batches(b, batch);

        if (n < BATCHES_LEAST || b->lines < BATCHES_LEAST)
                return 0;
        for (unsigned i = 0; i < n; i++)
                v[i] = peaks ? batch[i].max : batch[i].mean;
        detrend(v, n);
        return n;
}

struct noise bins_noise_of_mean(const struct bins *b)
{
        double v[BATCHES];
        unsigned n = residuals(b, false, v);

        if (n == 0)
                return (struct noise){ .known = false };
        double r = correlation(v, n);
        return (struct noise){ true, deviation(v, n) / sqrt(n) * sqrt((1 + r) / (1 - r)), n - 2 };
}

struct noise bins_noise_of_peak(const struct bins *b)
{
        double v[BATCHES];
        unsigned n = residuals(b, true, v);

        return n ? (struct noise){ true, deviation(v, n), n - 2 } : (struct noise){ .known = false };
}
