/* SPDX-License-Identifier: BSD-3-Clause */
/* Pyramids of rings against a list that keeps every sample. */
#include "tests/unit/facts/values.h"
#include "proto/facts/pyramid.h"

#define SECOND UINT64_C(1000000000)

#define CELL                                                                                                           \
        {                                                                                                              \
                sizeof(struct values), values_is_empty, values_reset, values_merge, NULL                               \
        }

/*
 * All of it is tested twice: with cells that are kept as they are, and packed, in forms that say where they belong; a
 * cell of one sample is small.
 */
struct packed_one {
        uint64_t start_ns, width_ns;
        struct sample sample;
};

struct test_cell {
        uint64_t start_ns, width_ns;
        struct values cell;
};

static bool pack_cell(void *packed, const void *cell, uint64_t start_ns, uint64_t width_ns)
{
        const struct values *c = cell;
        struct test_cell whole;
        struct packed_one one = { start_ns, width_ns, { c->times, c->sum } };

        if (c->n == 1) {
                memcpy(packed, &one, sizeof(one));
                return true;
        }
        memset(&whole, 0, sizeof(whole));
        whole = (struct test_cell){ start_ns, width_ns, *c };
        memcpy(packed, &whole, sizeof(whole));
        return false;
}

static void unpack_cell(void *cell, const void *packed, bool small, uint64_t start_ns, uint64_t width_ns)
{
        struct test_cell whole = { .width_ns = 0 };
        struct packed_one one;
        struct values *c = cell;

        memcpy(&one, packed, sizeof(one));
        assert_int_equal(one.start_ns, start_ns);
        assert_int_equal(one.width_ns, width_ns);
        if (small) {
                *c = (struct values){ 0 };
                values_add(c, one.sample);
                return;
        }
        memcpy(&whole, packed, sizeof(whole));
        *c = whole.cell;
}

static bool packs;

static struct pyramid_shape packed(struct pyramid_shape shape)
{
        if (packs)
                shape.packing = (struct pyramid_packing){ { sizeof(struct test_cell), sizeof(struct packed_one) },
                                                          pack_cell,
                                                          unpack_cell };
        return shape;
}

/* Of `capacity` intervals and, where they are packed, so many cells of each size. */
static size_t most_bytes(const struct pyramid_shape *shape, uint32_t capacity, uint32_t whole, uint32_t small)
{
        size_t packs_to = whole * sizeof(struct test_cell) + small * sizeof(struct packed_one);

        return pyramid_ring_bytes(shape, capacity) + (packs ? packs_to + shape->n_levels * shape->cell.size : 0);
}

/* A time that mostly advances, is sometimes late, and rarely jumps far, either way. */
static uint64_t next_time(uint64_t now, uint64_t width, uint32_t capacity)
{
        uint64_t r = random_u64() % 100;

        if (r < 70)
                return now + random_u64() % (2 * width);
        if (r < 90)
                return now - random_u64() % (now < 3 * width ? now + 1 : 3 * width);
        if (r < 97)
                return now - random_u64() % (now < 2 * capacity * width ? now + 1 : 2 * capacity * width);
        if (r < 99)
                return now + random_u64() % (4 * capacity * width);
        return random_u64() % 2 ? now + random_u64() % (UINT64_C(1) << 40) : random_u64() % (now + 1);
}

static bool push(const struct pyramid_shape *shape, struct pyramid *p, unsigned level, struct sample s)
{
        struct values *c = pyramid_cell(shape, p, level, s.time_ns);

        if (c)
                values_add(c, s);
        return c != NULL;
}

static void check_ring(const struct pyramid_shape *shape, const struct pyramid *p, uint64_t last)
{
        uint64_t width = shape->levels[0].width_ns, most = shape->levels[0].most,
                 oldest = last < most ? 0 : last - most + 1;

        for (uint64_t i = oldest; i <= last; i++) {
                struct values want = naive(width, i, i + 1), room;
                const struct values *got = pyramid_at(shape, p, 0, i, &room);
                assert_int_equal(got != NULL, want.n > 0);
                if (got)
                        same(got, &want);
        }
        assert_null(pyramid_at(shape, p, 0, last + 1, NULL));
        if (oldest)
                assert_null(pyramid_at(shape, p, 0, oldest - 1, NULL));
        uint64_t a = oldest + random_u64() % (last - oldest + 1), b = a + random_u64() % (last - a + 2);
        struct values want = naive(width, a, b), got = { 0 };
        pyramid_merge(shape, p, 0, a, b, &got);
        same(&got, &want);
}

/* One level that has its full size from the start. */
static void ring_against_naive(uint32_t capacity, uint64_t width, uint64_t start, uint64_t seed)
{
        const struct pyramid_shape shape = packed(
                (struct pyramid_shape){ .cell = CELL, .n_levels = 1, .levels = { { width, capacity, capacity } } });
        struct pyramid p = { 0 };
        uint64_t now = start, last = 0;
        bool any = false;

        random_state = seed;
        n_kept = 0;
        assert_null(pyramid_at(&shape, &p, 0, 0, NULL));
        for (int i = 0; i < 600; i++) {
                struct sample s = { next_time(now, width, capacity), random_u64() % 1000000 };
                uint64_t interval = s.time_ns / width;
                bool fits = !any || interval >= last || last - interval < capacity;
                assert_int_equal(push(&shape, &p, 0, s), fits);
                if (!fits)
                        continue;
                kept[n_kept++] = s;
                last = !any || interval > last ? interval : last;
                now = s.time_ns > now ? s.time_ns : now;
                any = true;
                check_ring(&shape, &p, last);
        }
        assert_true(p.held_bytes > 0 && p.held_bytes <= most_bytes(&shape, capacity, capacity, capacity));
        pyramid_done(&shape, &p);
        assert_int_equal(p.held_bytes, 0);
}

static void test_ring_is_what_a_list_says(void **unused)
{
        for (uint64_t seed = 1; seed <= 12; seed++) {
                ring_against_naive(8, 1000, 0, seed);
                ring_against_naive(5, SECOND, 12345 * SECOND, seed + 100);
                ring_against_naive(60, 10 * SECOND, UINT64_C(900000) * SECOND, seed + 200); /* raw monotonic clock */
                ring_against_naive(1, 7, 3, seed + 300);
        }
}

static void test_the_end_of_time(void **unused)
{
        const struct pyramid_shape shape =
                packed((struct pyramid_shape){ .cell = CELL, .n_levels = 1, .levels = { { 1, 4, 4 } } });
        struct pyramid p = { 0 };
        struct values all = { 0 }, room;

        assert_true(push(&shape, &p, 0, (struct sample){ UINT64_MAX - 1, 1 }));
        assert_true(push(&shape, &p, 0, (struct sample){ UINT64_MAX, 2 }));
        assert_false(push(&shape, &p, 0, (struct sample){ 0, 3 }));
        assert_non_null(pyramid_at(&shape, &p, 0, UINT64_MAX, &room));
        pyramid_merge(&shape, &p, 0, 0, UINT64_MAX, &all);
        assert_int_equal(all.n, 1);
        pyramid_clear(&shape, &p);
        assert_true(push(&shape, &p, 0, (struct sample){ 0, 3 }));
        assert_null(pyramid_at(&shape, &p, 0, UINT64_MAX, &room));
        assert_int_equal(((const struct values *)pyramid_at(&shape, &p, 0, 0, &room))->sum, 3);
        pyramid_done(&shape, &p);
}

/* ------------------------------------------------------------------ levels */

static struct pyramid_shape levels = {
        .cell = CELL,
        .n_levels = 4,
        .levels = { { SECOND, 4, 60 }, { 5 * SECOND, 2, 48 }, { 30 * SECOND, 2, 40 }, { 120 * SECOND, 2, 50 } },
};

static void push_all(struct pyramid *p, struct sample s)
{
        for (unsigned level = 0; level < levels.n_levels; level++)
                (void)push(&levels, p, level, s);
        kept[n_kept++] = s;
}

/* While a ring grows and when it is full, it keeps all that a full ring of its width keeps. */
static void levels_keep_all(uint64_t start, uint64_t step, uint64_t seed)
{
        struct pyramid p = { 0 };
        uint64_t now = start, last[PYRAMID_LEVELS] = { 0 };

        random_state = seed;
        n_kept = 0;
        for (uint64_t i = 0; i < 2000; i++) {
                now += random_u64() % step;
                uint64_t back = random_u64() % 8 ? 0 : random_u64() % (20 * step);
                push_all(&p, (struct sample){ now - (back < now - start ? back : now - start), i });
                for (unsigned r = 0; r < levels.n_levels; r++) {
                        uint64_t width = levels.levels[r].width_ns, most = levels.levels[r].most;
                        uint64_t at = kept[n_kept - 1].time_ns / width;
                        last[r] = at > last[r] ? at : last[r];
                        if (i % 100)
                                continue;
                        uint64_t oldest = last[r] < most ? 0 : last[r] - most + 1;
                        for (int k = 0; k < 20; k++) {
                                uint64_t interval = oldest + random_u64() % (last[r] - oldest + 1);
                                struct values want = naive(width, interval, interval + 1), room;
                                const struct values *got = pyramid_at(&levels, &p, r, interval, &room);
                                assert_int_equal(got != NULL, want.n > 0);
                                if (got)
                                        same(got, &want);
                        }
                }
        }
        assert_true(p.held_bytes <= most_bytes(&levels, 198, 198, 198));
        pyramid_done(&levels, &p);
}

static void test_growing_rings_keep_all(void **unused)
{
        for (uint64_t seed = 1; seed < 5; seed++) {
                levels_keep_all(0, SECOND / 10, seed);
                levels_keep_all(777777 * SECOND, SECOND, seed);
                levels_keep_all(5, 60 * SECOND, seed);
        }
}

/* Packed, intervals without a sample take no cell, those with one a small one; half of that is to spare. */
static void test_cells_are_of_samples(void **unused)
{
        struct pyramid p = { 0 };

        n_kept = 0;
        for (uint64_t s = 0; s < 6000; s += 20)
                push_all(&p, (struct sample){ s * SECOND, s });
        assert_true(p.held_bytes <=
                    most_bytes(&levels, 60 + 48 + 40 + 50, (20 + 50) * 3 / 2, (3 + 12 + 20 + 4) * 3 / 2));
        pyramid_done(&levels, &p);
}

/* How far back a level is complete: never too far, and not less for a gap without samples. */
static void test_the_level_that_reaches_back(void **unused)
{
        struct pyramid p = { 0 };

        n_kept = 0;
        assert_int_equal(pyramid_level(&levels, &p, 0), 0);
        for (uint64_t s = 1000; s < 1060; s++)
                push_all(&p, (struct sample){ s * SECOND, s });
        assert_int_equal(pyramid_level(&levels, &p, 0), 0); /* nothing was before, and nothing was dropped */
        push_all(&p, (struct sample){ 1060 * SECOND, 1 });
        assert_int_equal(pyramid_level(&levels, &p, 1001 * SECOND), 0);
        assert_int_equal(pyramid_level(&levels, &p, 1000 * SECOND), 1);
        push_all(&p, (struct sample){ 1200 * SECOND, 1 }); /* 139 s without a sample */
        assert_int_equal(pyramid_level(&levels, &p, 1141 * SECOND), 0);
        assert_int_equal(pyramid_level(&levels, &p, 1140 * SECOND), 1);
        assert_int_equal(pyramid_level(&levels, &p, 0), 1);
        push_all(&p, (struct sample){ 100000 * SECOND, 1 });
        assert_int_equal(pyramid_level(&levels, &p, 0), 3); /* the widest has dropped some, too */
        pyramid_clear(&levels, &p);
        assert_int_equal(pyramid_level(&levels, &p, 0), 0);
        pyramid_done(&levels, &p);
}

static void add_up(void *ctx, const void *cell)
{
        values_merge(ctx, cell);
}

static void test_ranges_of_several_levels(void **unused)
{
        struct pyramid p = { 0 };
        uint64_t now = 5000 * SECOND;
        unsigned widened = 0;

        random_state = 42;
        n_kept = 0;
        for (unsigned i = 0; i < 6000; i++) {
                now += random_u64() % (i % 500 < 490 ? SECOND : 20 * SECOND);
                push_all(&p, (struct sample){ now, random_u64() % 1000 });
                if (i % 7)
                        continue;
                uint64_t to = now / SECOND * SECOND, span = (1 + random_u64() % 5900) * SECOND;
                uint64_t from = to > span ? to - span : 0;
                unsigned level = pyramid_level(&levels, &p, from);
                uint64_t width = levels.levels[level].width_ns;
                if (level == 3 && p.levels[3].complete > from / width)
                        from = p.levels[3].complete * width;
                uint64_t begin = from / width * width / SECOND; /* of the cell that holds the older end */
                struct values want = naive(SECOND, begin, to / SECOND), visited = { 0 }, sum = { 0 };
                pyramid_visit(&levels, &p, (struct time_range){ from, to }, add_up, &visited);
                pyramid_sum(&levels, &p, (struct time_range){ from, to }, &sum);
                same(&visited, &want);
                same(&sum, &want);
                widened += level > 0;
        }
        assert_true(widened > 300);
        pyramid_done(&levels, &p);
}

static void test_the_cell_before(void **unused)
{
        struct pyramid p = { 0 };
        struct values room;

        n_kept = 0;
        assert_null(pyramid_before(&levels, &p, UINT64_MAX, &room));
        for (uint64_t s = 100; s < 700; s += 3)
                push_all(&p, (struct sample){ s * SECOND, s });
        assert_int_equal(((const struct values *)pyramid_before(&levels, &p, 700 * SECOND, &room))->sum, 697);
        assert_int_equal(((const struct values *)pyramid_before(&levels, &p, 698 * SECOND, &room))->sum, 697);
        assert_int_equal(((const struct values *)pyramid_before(&levels, &p, 698 * SECOND - 1, &room))->sum, 694);
        /* 641 .. 700 s are in the finest ring; before that, cells of 5 s: 630 .. 634 has 631 and 634 */
        assert_int_equal(((const struct values *)pyramid_before(&levels, &p, 636 * SECOND, &room))->sum, 631 + 634);
        assert_null(pyramid_before(&levels, &p, 100 * SECOND, &room));
        pyramid_done(&levels, &p);
}

/* ------------------------------------------------------- cells that own memory */

struct owner {
        uint32_t *list;
        uint32_t n;
};

static int owned; /* lists that are allocated */

static bool owner_is_empty(const void *cell)
{
        return ((const struct owner *)cell)->n == 0;
}

static void owner_reset(void *cell)
{
        ((struct owner *)cell)->n = 0;
}

static void owner_merge(void *to, const void *from)
{
        ((struct owner *)to)->n += ((const struct owner *)from)->n;
}

static void owner_done(void *cell)
{
        struct owner *o = cell;

        owned -= o->list != NULL;
        test_free(o->list);
        o->list = NULL;
}

/* Growing moves lists or frees them; nothing is freed twice or lost. */
static void test_cells_may_own_memory(void **unused)
{
        static const struct pyramid_shape shape = {
                .cell = { sizeof(struct owner), owner_is_empty, owner_reset, owner_merge, owner_done },
                .n_levels = 2,
                .levels = { { SECOND, 1, 20 }, { 10 * SECOND, 2, 7 } },
        };
        struct pyramid p = { 0 };
        uint64_t now = 0;

        random_state = 5;
        for (int i = 0; i < 3000; i++) {
                now += random_u64() % (i % 100 ? 2 * SECOND : 40 * SECOND);
                uint64_t back = random_u64() % 4 ? 0 : random_u64() % (now + 1 < 30 * SECOND ? now + 1 : 30 * SECOND);
                for (unsigned level = 0; level < 2; level++) {
                        struct owner *o = pyramid_cell(&shape, &p, level, now - back);
                        if (!o)
                                continue;
                        if (!o->list) {
                                o->list = test_malloc(sizeof(*o->list));
                                owned++;
                        }
                        *o->list = o->n++;
                }
        }
        assert_true(owned > 0 && owned <= 27);
        pyramid_done(&shape, &p);
        assert_int_equal(owned, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_ring_is_what_a_list_says),
                cmocka_unit_test(test_the_end_of_time),
                cmocka_unit_test(test_growing_rings_keep_all),
                cmocka_unit_test(test_cells_are_of_samples),
                cmocka_unit_test(test_the_level_that_reaches_back),
                cmocka_unit_test(test_ranges_of_several_levels),
                cmocka_unit_test(test_the_cell_before),
        };
        const struct CMUnitTest owners[] = { cmocka_unit_test(test_cells_may_own_memory) };
        int failed = cmocka_run_group_tests_name("kept as they are", tests, NULL, NULL);

        packs = true;
        levels = packed(levels);
        failed += cmocka_run_group_tests_name("packed", tests, NULL, NULL);
        return failed + cmocka_run_group_tests_name("owners", owners, NULL, NULL);
}
