/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays: room, zeros, and that a failure changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/array.h"

TEST(test_room_grows_by_doubling)
{
        uint64_t *numbers = NULL;
        size_t capacity = 0, resizes = 0;

        for (size_t n = 0; n < 10000; n++) {
                const size_t before = capacity;

                assert_true(ARRAY_RESERVE(numbers, capacity, n + 1));
                assert_true(capacity > n);
                resizes += capacity != before;
                numbers[n] = n;
        }
        assert_in_range(resizes, 1, 14);
        for (size_t n = 0; n < 10000; n++)
                assert_int_equal(numbers[n], n);
        free(numbers);
}

TEST(test_what_is_added_is_zero)
{
        struct pair {
                uint16_t a;
                char *b;
        } *pairs = NULL;
        uint32_t capacity = 0;

        assert_true(ARRAY_RESERVE_ZEROED(pairs, capacity, 3));
        memset(pairs, 0xff, capacity * sizeof(*pairs));
        const uint32_t before = capacity;
        assert_true(ARRAY_RESERVE_ZEROED(pairs, capacity, 1000));
        assert_in_range(capacity, 1000, 2000);
        for (uint32_t i = 0; i < capacity; i++)
                assert_int_equal(pairs[i].a, i < before ? 0xffff : 0);
        free(pairs);
}

TEST(test_failure_changes_nothing)
{
        uint64_t *numbers = NULL, *kept;
        size_t capacity = 0;
        uint32_t small = 0;

        assert_true(ARRAY_RESERVE(numbers, capacity, 5));
        numbers[4] = 7;
        kept = numbers;
        const size_t before = capacity;
        assert_false(ARRAY_RESERVE(numbers, capacity, SIZE_MAX / 8 + 2)); /* its bytes overflow */
        assert_false(ARRAY_RESERVE(numbers, capacity, SIZE_MAX));
        assert_false(ARRAY_RESERVE(numbers, small, (size_t)UINT32_MAX + 1));
        assert_ptr_equal(numbers, kept);
        assert_int_equal(capacity, before);
        assert_int_equal(small, 0);
        assert_int_equal(numbers[4], 7);
        free(numbers);
}

TEST(test_arrays_without_capacity)
{
        unsigned *numbers = NULL;
        size_t n = 0;

        while (n < 1000) {
                assert_true(ARRAY_RESERVE_NEXT(numbers, n));
                numbers[n] = (unsigned)n;
                n++;
        }
        for (n = 300; n < 2000; n++) { /* some were removed */
                assert_true(ARRAY_RESERVE_NEXT(numbers, n));
                numbers[n] = (unsigned)n;
        }
        for (size_t i = 0; i < n; i++)
                assert_int_equal(numbers[i], i);
        free(numbers);
}
