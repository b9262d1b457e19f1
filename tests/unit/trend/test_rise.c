/* SPDX-License-Identifier: BSD-3-Clause */
/* The rise that a run ends with: found where there is one, from where it begins, and not where there is none. */
#include <math.h>

#include "tests/unit/test.h"

#include "daemon/judge/trend/early_rise.h"

#define S   UINT64_C(1000000000)
#define MIB 1048576.0
#define N   60u

static struct rise_point points[N];

static void make(double (*bytes)(unsigned s))
{
        for (unsigned s = 0; s < N; s++)
                points[s] = (struct rise_point){ s * S, bytes(s) };
}

static double flat(unsigned s)
{
        return (20 + s % 7 * 0.1) * MIB;
}

/* 2 MiB, from 30 s on 10 MiB/s, with the noise of a collector. */
static double knee(unsigned s)
{
        return (2 + (s > 30 ? (s - 30) * 10.0 : 0) + s % 3 * 0.2) * MIB;
}

/* The same, and what the last collection left of it. */
static double knee_then_freed(unsigned s)
{
        return s == N - 1 ? MIB : knee(s);
}

static double saw(unsigned s)
{
        return (10 + s % 10 * 10.0) * MIB;
}

/* Loads its data, then holds it. */
static double plateau(unsigned s)
{
        return (s < 20 ? s * 10.0 : 200) * MIB + s % 5 * 0.1 * MIB;
}

static double small(unsigned s)
{
        return (2 + s * 0.01) * MIB;
}

TEST(a_knee_is_found_where_it_is)
{
        struct rise_line r;

        make(knee);
        assert_true(rise_find(points, N, (N - 1) * S, &r));
        assert_true(r.began_after_ns >= 28 * S && r.began_after_ns <= 31 * S);
        assert_true(r.began_by_ns > r.began_after_ns && r.began_by_ns - r.began_after_ns <= S);
        assert_true(r.from_bytes < 5 * MIB && r.to_bytes > 290 * MIB);
        assert_true(fabs(r.slope - 10 * MIB) < 0.2 * MIB && r.fit > 0.99);
        make(knee_then_freed);
        assert_true(rise_find(points, N, (N - 1) * S, &r));
        assert_true(r.to_ns == (N - 2) * S && r.to_bytes > 280 * MIB);
}

TEST(what_is_no_rise_is_none)
{
        struct rise_line r;

        make(flat);
        assert_false(rise_find(points, N, (N - 1) * S, &r));
        make(plateau);
        assert_false(rise_find(points, N, (N - 1) * S, &r));
        make(small); /* of 0.6 MiB */
        assert_false(rise_find(points, N, (N - 1) * S, &r));
        make(saw); /* its last tooth is a rise; before it the level is the mean of the others */
        if (rise_find(points, N, (N - 1) * S, &r))
                assert_true(r.began_by_ns >= 50 * S);
        make(knee);
        assert_false(rise_find(points, N, 10 * N * S, &r)); /* it was over long before the end */
        assert_false(rise_find(points, 3, 3 * S, &r));
        assert_false(rise_find(NULL, 0, 0, &r));
}

/* A runtime measures live data ever more rarely while it doubles: five samples are enough. */
TEST(few_samples_are_enough)
{
        static const uint64_t at[] = { 1, 5, 11, 13, 17, 25, 41 };
        struct rise_point p[7];
        struct rise_line r;

        for (unsigned i = 0; i < 7; i++)
                p[i] = (struct rise_point){ at[i] * S, at[i] < 10 ? 2 * MIB : (double)(at[i] - 9) * 10 * MIB };
        assert_true(rise_find(p, 7, 43 * S, &r));
        assert_int_equal(r.began_after_ns, 5 * S);
        assert_int_equal(r.began_by_ns, 11 * S);
        assert_int_equal(r.points, 5);
}
