/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounded stores against a model that keeps everything: all samples and
 * collections in the messages, of every recorded log, with
 * the series' windows and the histograms of pauses.
 */
#include <glob.h>
#include <math.h>

#include "daemon/model/series.h"
#include "tests/unit/targets/play.h"
#include "tests/unit/test.h"

static struct series_view view;

#define MAX_SAMPLES 60000
#define MAX_POINTS  4000
#define GENERATIONS 4

struct sample {
        uint64_t time_ns, value;
};

static struct sample samples[SERIES_COUNT][MAX_SAMPLES];
static size_t n_samples[SERIES_COUNT];
static uint64_t pauses[GENERATIONS][MAX_SAMPLES];
static size_t n_pauses[GENERATIONS];
static uint64_t copied, total_pause;
static struct point points[MAX_POINTS];
static size_t points_compared, buckets_compared;

static void keep_samples(const Hw__Heap *heap)
{
        for (size_t i = 0; i < heap->n_samples; i++) {
                const Hw__Samples *s = heap->samples[i];
                assert_int_equal(s->dropped, 0);
                for (size_t k = 0; k < s->n_values; k++) {
                        assert_true(n_samples[s->series] < MAX_SAMPLES);
                        samples[s->series][n_samples[s->series]++] = (struct sample){ s->times_ns[k], s->values[k] };
                }
        }
}

static void keep_collection(const Hw__Collection *c)
{
        copied += c->copied_bytes;
        assert_true(c->generation < GENERATIONS);
        if (!c->has_pause_ns)
                return;
        total_pause += c->pause_ns;
        assert_true(n_pauses[c->generation] < MAX_SAMPLES);
        pauses[c->generation][n_pauses[c->generation]++] = c->pause_ns;
}

/* The bucket of a pause, as docs/PROTOCOL.md gives its bounds: searched, not computed as the model does it. */
static bool is_in_bucket(uint32_t b, uint64_t value)
{
        if (b < 32)
                return value == b;
        unsigned shift = b / 32 + 4 - 5;
        uint64_t width = UINT64_C(1) << shift, low = (32 + b % 32) * width;
        return value >= low && (value < low + width || b == 1215);
}

static int by_size(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

/* `got` is what the histogram says of the value that a share `q` of all does not exceed. */
static void assert_quantile(const uint64_t *sorted, size_t n, double q, uint64_t got)
{
        size_t rank = (size_t)ceil(q * (double)n);
        uint64_t exact = sorted[rank ? rank - 1 : 0];

        assert_true(got >= exact && (double)got <= (double)exact * (1 + 1.0 / 32) + 1);
}

static void compare_generation(const Hw__Generation *g)
{
        uint64_t *all = pauses[g->generation], sum = 0;
        size_t n = n_pauses[g->generation], counted = 0;

        for (size_t i = 0; i < n; i++)
                sum += all[i];
        if (n == 0) {
                assert_false(g->has_pause_total_ns || g->has_pause_max_ns || g->n_bucket);
                return;
        }
        qsort(all, n, sizeof(*all), by_size);
        assert_int_equal(g->pause_total_ns, sum);
        assert_int_equal(g->pause_max_ns, all[n - 1]);
        assert_quantile(all, n, 0.50, g->pause_p50_ns);
        assert_quantile(all, n, 0.99, g->pause_p99_ns);
        for (size_t b = 0; b < g->n_bucket; b++) {
                size_t naive = 0;
                for (size_t i = 0; i < n; i++)
                        naive += is_in_bucket(g->bucket[b], all[i]);
                assert_int_equal(g->bucket_count[b], naive);
                counted += naive;
                buckets_compared++;
        }
        assert_int_equal(counted, n);
}

static Hw__Gc *newest; /* packed and unpacked: the message is borrowed */

static void keep(void *ctx, const Hw__Update *u)
{
        if (u->body_case == HW__UPDATE__BODY_HEAP)
                keep_samples(u->heap);
        if (u->body_case != HW__UPDATE__BODY_GC)
                return;
        assert_int_equal(u->gc->collections_dropped, 0);
        for (size_t i = 0; i < u->gc->n_collections; i++)
                keep_collection(u->gc->collections[i]);
        uint8_t *packed = malloc(hw__gc__get_packed_size(u->gc) + 1);
        assert_non_null(packed);
        if (newest)
                hw__gc__free_unpacked(newest, NULL);
        newest = hw__gc__unpack(NULL, hw__gc__pack(u->gc, packed), packed);
        free(packed);
        assert_non_null(newest);
}

/* Each point of a history has the samples of its interval. */
static size_t compare_points(const struct series *s, unsigned id, uint64_t step_ns)
{
        size_t n = series_history(s, (struct time_range){ 0, UINT64_MAX }, step_ns, points, MAX_POINTS), inside = 0;

        assert_true(n < MAX_POINTS);
        for (size_t i = 0; i < n; i++) {
                const struct cell *c = &points[i].cell;
                double min = INFINITY, max = -INFINITY, sum = 0;
                size_t count = 0;
                for (size_t k = 0; k < n_samples[id]; k++) {
                        const struct sample *x = &samples[id][k];
                        if (x->time_ns < points[i].time_ns || x->time_ns - points[i].time_ns >= points[i].width_ns)
                                continue;
                        min = fmin(min, (double)x->value);
                        max = fmax(max, (double)x->value);
                        sum += (double)x->value;
                        count++;
                }
                assert_int_equal(c->n, count);
                double rounded = (max - min) / (1 << 22); /* packed ones keep 24 bits of distances */
                assert_true(fabs(c->min - min) <= rounded && fabs(c->max - max) <= rounded);
                assert_true(fabs(c->mean - sum / (double)count) <= rounded + 1e-9 * sum);
                inside += count;
                points_compared++;
        }
        return inside;
}

static void compare_series(void *ctx, const struct model *m)
{
        static const uint64_t steps[] = { 0, 2000000000, 10000000000, 60000000000 };

        for (unsigned id = 1; id < SERIES_COUNT; id++) {
                const struct series *s = model_series(m, id, &view);
                if (!n_samples[id])
                        continue;
                assert_int_equal(s->late, 0);
                assert_int_equal(s->total.cell.n, n_samples[id]);
                for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
                        assert_int_equal(compare_points(s, id, steps[i]), n_samples[id]);
        }
}

static void compare_log(const char *path)
{
        struct log l = log_read(path);
        struct said s = { .hear = keep, .after = compare_series };

        memset(n_samples, 0, sizeof(n_samples));
        memset(n_pauses, 0, sizeof(n_pauses));
        copied = total_pause = 0;
        play_into(&s, l.bytes, l.size, one_piece, NULL);
        free(l.bytes);
        if (!newest)
                return;
        assert_int_equal(newest->copied_bytes, copied);
        assert_int_equal(newest->pause_total_ns, total_pause);
        for (size_t i = 0; i < newest->n_generations; i++)
                compare_generation(newest->generations[i]);
        hw__gc__free_unpacked(newest, NULL);
        newest = NULL;
}

TEST(test_all_logs)
{
        glob_t g;

        assert_int_equal(glob(LOGS "*/*.eventlog", 0, NULL, &g), 0);
        for (size_t i = 0; i < g.gl_pathc; i++)
                compare_log(g.gl_pathv[i]);
        globfree(&g);
        print_message("%zu points, %zu buckets\n", points_compared, buckets_compared);
        assert_true(points_compared > 1000 && buckets_compared > 1000);
}
