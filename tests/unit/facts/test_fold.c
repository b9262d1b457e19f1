/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds against a list that keeps every sample. */
#include "tests/unit/facts/values.h"
#include "proto/facts/fold.h"
#include "tests/unit/test.h"

#define SECOND   UINT64_C(1000000000)
#define CAPACITY 16u

#define CELL                                                                                                           \
        {                                                                                                              \
                sizeof(struct values), values_is_empty, values_reset, values_merge, NULL                               \
        }

static const struct fold_shape shapes[] = {
        { CELL, CAPACITY, 1, SECOND },
        { CELL, CAPACITY, 3, SECOND }, /* interleaved: two cells of others between */
        { CELL, CAPACITY, 1, 1 },
};

static void check(const struct fold_shape *shape, const struct fold *f)
{
        struct values all = { 0 };

        assert_true(f->n >= 1 && f->n <= CAPACITY);
        assert_true(f->width_ns == shape->first_width_ns || f->n >= CAPACITY / 2 || n_kept < 3);
        for (uint32_t i = 0; i < f->n; i++) {
                struct values want = naive(f->width_ns, f->first + i, f->first + i + 1);
                const struct values *got = fold_at(shape, f, i);
                assert_int_equal(got != NULL, want.n > 0);
                if (!got)
                        continue;
                same(got, &want);
                values_merge(&all, got);
                assert_true(fold_time_ns(f, i) / f->width_ns == f->first + i);
        }
        assert_null(fold_at(shape, f, f->n));
        assert_int_equal(all.n, n_kept); /* nothing is ever forgotten */
}

static void fold_against_naive(const struct fold_shape *shape, uint64_t start, uint64_t step, uint64_t seed)
{
        static struct values cells[CAPACITY * 3];
        struct fold f = { .cells = cells };
        uint64_t now = start;

        memset(cells, 0xff, sizeof(cells)); /* contents do not matter */
        random_state = seed;
        n_kept = 0;
        for (uint64_t i = 0; i < 500; i++) {
                now += random_u64() % step;
                uint64_t back = random_u64() % 8 ? 0 : random_u64() % (60 * step);
                struct sample s = { back < now ? now - back : 0, random_u64() % 1000 };
                values_add(fold_cell(shape, &f, s.time_ns), s);
                kept[n_kept++] = s;
                check(shape, &f);
        }
        for (size_t i = 1; shape->stride == 3 && i < CAPACITY * 3; i += i % 3)
                assert_int_equal(cells[i].n, UINT64_MAX); /* others' cells are not touched */
}

TEST(test_fold_is_what_a_list_says)
{
        for (uint64_t seed = 1; seed <= 8; seed++) {
                for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
                        fold_against_naive(&shapes[i], 0, SECOND / 3, seed);
                        fold_against_naive(&shapes[i], 123456789 * SECOND, 7 * SECOND, seed);
                        fold_against_naive(&shapes[i], 3, UINT64_C(86400) * SECOND, seed);
                }
        }
}

TEST(test_the_ends_of_time)
{
        static const uint64_t times[] = { 5, UINT64_MAX, 0, UINT64_MAX / 2, UINT64_MAX - 1 };

        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
                static struct values cells[CAPACITY * 3];
                struct fold f = { .cells = cells };

                n_kept = 0;
                for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
                        kept[n_kept++] = (struct sample){ times[i], i };
                        values_add(fold_cell(&shapes[k], &f, times[i]), kept[i]);
                        uint64_t n = 0;
                        for (uint32_t c = 0; c < f.n; c++) {
                                const struct values *cell = fold_at(&shapes[k], &f, c);
                                n += cell ? cell->n : 0;
                        }
                        assert_int_equal(n, n_kept);
                }
        }
}
