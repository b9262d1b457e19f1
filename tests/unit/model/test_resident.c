/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test.h"

#include "daemon/model/resident.h"

#define MIB (UINT64_C(1) << 20)
#define U   UNKNOWN_U64

/* In MiB. */
static struct resident account(uint64_t rss, uint64_t files, uint64_t lazy_free, uint64_t heap, uint64_t size,
                               uint64_t live, uint64_t needed)
{
        uint64_t n[] = { rss, files, lazy_free, heap, size, live, needed };
        struct resident r;

        for (size_t i = 0; i < 7; i++)
                n[i] = n[i] == U ? U : n[i] * MIB;
        const struct resident_pages pages = {
                .rss_bytes = n[0], .files_bytes = n[1], .lazy_free_bytes = n[2], .heap_bytes = n[3]
        };
        const struct resident_heap of_log = { n[4], n[5], n[6] };
        resident_account(&pages, &of_log, &r);
        return r;
}

static void parts(const struct resident *r, uint64_t live, uint64_t reserve, uint64_t kept, uint64_t given_back,
                  uint64_t files, uint64_t foreign)
{
        const uint64_t expected[RESIDENT_PARTS] = { live, reserve, kept, given_back, files, foreign };
        uint64_t sum = r->unknown_bytes;

        for (unsigned i = 0; i < RESIDENT_PARTS; i++) {
                if (r->parts[i] != (expected[i] == U ? U : expected[i] * MIB))
                        fail_msg("part %u is %llu", i, (unsigned long long)r->parts[i]);
                sum += r->parts[i] == U ? 0 : r->parts[i];
        }
        assert_true(sum == r->rss_bytes);
}

TEST(parts_add_up)
{
        struct resident r;

        r = account(600, 5, 280, 300, 300, 100, 250);
        parts(&r, 100, 150, 50, 280, 5, 15);
        assert_int_equal(r.absent_bytes, 0);
        assert_int_equal(r.unknown_bytes, 0);
        r = account(15, 5, 0, 8, 8, 8, 8);
        parts(&r, 8, 0, 0, 0, 5, 2);
}

/* Heap that was never touched, or is in swap, is missing from what is needed least. */
TEST(heap_that_is_not_resident)
{
        struct resident r;

        r = account(285, 5, 0, 280, 300, 100, 250);
        parts(&r, 100, 150, 30, 0, 5, 0);
        assert_int_equal(r.absent_bytes, 20 * MIB);
        r = account(205, 5, 0, 200, 300, 100, 250);
        parts(&r, 100, 100, 0, 0, 5, 0);
        r = account(65, 5, 0, 60, 300, 100, 250);
        parts(&r, 60, 0, 0, 0, 5, 0);
        assert_int_equal(r.absent_bytes, 240 * MIB);
}

/* The heap has grown, or its data have been dropped, since the collection that is the newest in the log. */
TEST(figures_of_another_instant)
{
        struct resident r;

        r = account(405, 5, 0, 400, 300, 100, 250);
        parts(&r, 100, 250, 50, 0, 5, 0); /* grown: allocated since */
        r = account(405, 5, 390, 10, 300, 100, 250);
        parts(&r, 10, 0, 0, 390, 5, 0); /* given back since */
        r = account(305, 5, 0, 300, 300, 400, U);
        parts(&r, 300, 0, 0, 0, 5, 0);
}

/* Without a heap that is recognised among the mappings it is taken to be resident: foreign is a lower bound. */
TEST(an_unrecognised_heap)
{
        struct resident r;

        r = account(600, 5, 200, U, 300, 100, 250);
        parts(&r, 100, 150, 50, 200, 5, 95);
        r = account(400, 5, 200, U, 300, 100, 250);
        parts(&r, 100, 95, 0, 200, 5, 0);
}

TEST(what_cannot_be_read_is_unknown)
{
        struct resident r;

        r = account(600, 5, 200, 300, U, U, U); /* a program without a log: the kernel knows the heap's pages */
        parts(&r, U, U, U, 200, 5, 95);
        assert_int_equal(r.unknown_bytes, 300 * MIB);
        r = account(600, 5, 200, 300, 300, U, U); /* before its first major collection */
        parts(&r, U, U, U, 200, 5, 95);
        r = account(600, 5, 200, U, U, U, U);
        parts(&r, U, U, U, 200, 5, U);
        assert_int_equal(r.unknown_bytes, 395 * MIB);
        r = account(600, 5, U, U, 300, 100, 250); /* smaps of another user's process */
        parts(&r, U, U, U, U, 5, U);
        assert_int_equal(r.unknown_bytes, 595 * MIB);
        r = account(600, U, U, U, 300, 100, 250);
        parts(&r, U, U, U, U, U, U);
        r = account(U, 5, 200, 300, 300, 100, 250);
        assert_true(r.rss_bytes == U && r.parts[RESIDENT_FILES] == U && r.unknown_bytes == U);
}

/* Whatever the numbers, no part is negative, and they add up. */
TEST(any_numbers_add_up)
{
        static const uint64_t some[] = { 0, 1, 7, 50, 100, U };
        enum { N = sizeof(some) / sizeof(*some), ALL = N * N * N * N * N * N * N };

        for (unsigned i = 0; i < ALL; i++) {
                uint64_t n[7];
                unsigned k = i;
                for (unsigned j = 0; j < 7; j++, k /= N)
                        n[j] = some[k % N];
                struct resident r = account(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
                if (r.rss_bytes == U)
                        continue;
                uint64_t sum = r.unknown_bytes;
                for (unsigned j = 0; j < RESIDENT_PARTS; j++) {
                        assert_true(r.parts[j] == U || r.parts[j] <= r.rss_bytes);
                        sum += r.parts[j] == U ? 0 : r.parts[j];
                }
                assert_true(sum == r.rss_bytes);
        }
}
