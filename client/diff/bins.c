/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/diff/bins.h"

#include <math.h>

#define FIRST_WIDTH_NS 1000000u
#define BATCHES        16u
#define BATCHES_LEAST  8u
#define CORRELATION    0.9 /* at most, since the correction is unbounded */

/* ------------------------------------------------------------------- filling */

static void merge(struct bin *to, const struct bin *from)
{
        if (!from->covered_ns)
                return;
        to->most = to->covered_ns ? fmax(to->most, from->most) : from->most;
        to->area += from->area;
        to->covered_ns += from->covered_ns;
}

static void widen(struct bins *b)
{
        for (unsigned i = 0; i < BINS / 2; i++) {
                struct bin pair = b->bin[2 * i];
                merge(&pair, &b->bin[2 * i + 1]);
                b->bin[i] = pair;
        }
        for (unsigned i = BINS / 2; i < BINS; i++)
                b->bin[i] = (struct bin){ .area = 0 };
        b->n = (b->n + 1) / 2;
        b->width_ns *= 2;
}

static unsigned place(struct bins *b, uint64_t at_ns)
{
        while ((at_ns - b->first_ns) / b->width_ns >= BINS)
                widen(b);
        return (unsigned)((at_ns - b->first_ns) / b->width_ns);
}

/* One piece of a line, within one bin. */
static void add_piece(struct bins *b, unsigned i, uint64_t ns, double v0, double v1)
{
        struct bin piece = { .area = (double)ns * (v0 + v1) / 2, .most = fmax(v0, v1), .covered_ns = ns };

        merge(&b->bin[i], &piece);
        b->n = i >= b->n ? i + 1 : b->n;
}

void bins_add(struct bins *b, uint64_t from_ns, uint64_t to_ns, double v0, double v1)
{
        double slope = to_ns > from_ns ? (v1 - v0) / (double)(to_ns - from_ns) : 0;

        if (!b->width_ns) {
                b->width_ns = FIRST_WIDTH_NS;
                b->first_ns = from_ns;
        }
        if (to_ns <= from_ns || from_ns < b->first_ns)
                return;
        b->lines++;
        (void)place(b, to_ns - 1); /* widens the bins first, if need be */
        for (uint64_t at = from_ns; at < to_ns;) {
                unsigned i = place(b, at);
                uint64_t end = b->first_ns + (i + 1) * b->width_ns;
                if (end > to_ns)
                        end = to_ns;
                double v = v0 + slope * (double)(at - from_ns);
                add_piece(b, i, end - at, v, end == to_ns ? v1 : v0 + slope * (double)(end - from_ns));
                at = end;
        }
}

/* ------------------------------------------------------------------- reading */

static struct bin total(const struct bins *b)
{
        struct bin all = { .area = 0 };

        for (unsigned i = 0; i < b->n; i++)
                merge(&all, &b->bin[i]);
        return all;
}

double bins_mean(const struct bins *b)
{
        struct bin all = total(b);

        return all.covered_ns ? all.area / (double)all.covered_ns : NAN;
}

double bins_peak(const struct bins *b)
{
        struct bin all = total(b);

        return all.covered_ns ? all.most : NAN;
}

uint64_t bins_covered(const struct bins *b)
{
        return total(b).covered_ns;
}

/* --------------------------------------------------------------------- noise */

/* Consecutive intervals with data, each of 2 or 4 bins; the last one counts if it is at least half full. */
static unsigned batches(const struct bins *b, struct bin out[BATCHES])
{
        unsigned of = b->n > BATCHES * 2 ? 4 : b->n > BATCHES ? 2 : 1, n = 0;

        for (unsigned i = 0; i < b->n; i += of) {
                struct bin batch = b->bin[i];
                for (unsigned k = 1; k < of && i + k < b->n; k++)
                        merge(&batch, &b->bin[i + k]);
                if (batch.covered_ns * 2 >= of * b->width_ns)
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

static double mean_of(const struct bin *b)
{
        return b->area / (double)b->covered_ns;
}

static double most_of(const struct bin *b)
{
        return b->most;
}

/* A number of each batch, detrended. Returns how many; 0: too few. */
static unsigned residuals(const struct bins *b, double (*of)(const struct bin *), double v[BATCHES])
{
        struct bin batch[BATCHES];
        unsigned n = batches(b, batch);

        if (n < BATCHES_LEAST || b->lines < BATCHES_LEAST)
                return 0;
        for (unsigned i = 0; i < n; i++)
                v[i] = of(&batch[i]);
        detrend(v, n);
        return n;
}

struct noise bins_noise_of_mean(const struct bins *b)
{
        double v[BATCHES];
        unsigned n = residuals(b, mean_of, v);

        if (n == 0)
                return (struct noise){ .known = false };
        double r = correlation(v, n);
        return (struct noise){ true, deviation(v, n) / sqrt(n) * sqrt((1 + r) / (1 - r)), n - 2 };
}

struct noise bins_noise_of_peak(const struct bins *b)
{
        double v[BATCHES];
        unsigned n = residuals(b, most_of, v);

        return n ? (struct noise){ true, deviation(v, n), n - 2 } : (struct noise){ .known = false };
}
