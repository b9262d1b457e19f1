/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pages of a process were touched: of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inspect/process/live.h"

#define PAGES 2000u

static void test_touched_pages(void **state)
{
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *bytes = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const uint64_t at = (uint64_t)(uintptr_t)bytes;

        (void)state;
        assert_ptr_not_equal(bytes, MAP_FAILED);
        (void)madvise(bytes, PAGES * page, MADV_NOHUGEPAGE);
        uint64_t start = at, end = at + PAGES * page;
        assert_false(live_find_touched(getpid(), &start, &end));

        bytes[700 * page] = bytes[703 * page] = bytes[1900 * page] = 1;
        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at + 700 * page);
        assert_int_equal(end, at + 704 * page);
        start = end;
        end = at + PAGES * page;
        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at + 1900 * page);
        assert_int_equal(end, at + 1901 * page);
        start = end;
        end = at + PAGES * page;
        assert_false(live_find_touched(getpid(), &start, &end));
        (void)munmap(bytes, PAGES * page);
}

/* A range may begin and end within a page. */
static void test_part_of_a_page(void **state)
{
        uint64_t here[4] = { 1 }, start = (uint64_t)(uintptr_t)here, end = start + 8;
        const uint64_t at = start;

        (void)state;
        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at);
        assert_int_equal(end, at + 8);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_touched_pages),
                cmocka_unit_test(test_part_of_a_page),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
