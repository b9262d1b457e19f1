/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays: room, zeros, and that a failure changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/base/array.h"

static void test_room_grows_by_doubling(void **state)
{
        uint64_t *numbers = NULL;
        size_t capacity = 0, resizes = 0;

        (void)state;
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

static void test_what_is_added_is_zero(void **state)
{
        struct pair {
                uint16_t a;
                char *b;
        } *pairs = NULL;
        uint32_t capacity = 0;

        (void)state;
        assert_true(ARRAY_RESERVE_ZEROED(pairs, capacity, 3));
        memset(pairs, 0xff, capacity * sizeof(*pairs));
        const uint32_t before = capacity;
        assert_true(ARRAY_RESERVE_ZEROED(pairs, capacity, 1000));
        assert_in_range(capacity, 1000, 2000);
        for (uint32_t i = 0; i < capacity; i++)
                assert_int_equal(pairs[i].a, i < before ? 0xffff : 0);
        free(pairs);
}

static void test_failure_changes_nothing(void **state)
{
        uint64_t *numbers = NULL, *kept;
        size_t capacity = 0;
        uint32_t small = 0;

        (void)state;
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

static void test_arrays_without_capacity(void **state)
{
        unsigned *numbers = NULL;
        size_t n = 0;

        (void)state;
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_room_grows_by_doubling),
                cmocka_unit_test(test_what_is_added_is_zero),
                cmocka_unit_test(test_failure_changes_nothing),
                cmocka_unit_test(test_arrays_without_capacity),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
