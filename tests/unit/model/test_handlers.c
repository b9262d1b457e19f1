/* SPDX-License-Identifier: BSD-3-Clause */
/* No handler reads a byte that the decoder has not checked; and how numbers of events are kept. */
#include "tests/unit/model/events.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/model/heap_private.h"
#include "tests/unit/test.h"

/* More than any handler reads beyond what every release has. */
enum { LONGER = 64 };

/*
 * Events whose payload ends where a page begins that cannot be read: as long as hw_event_info says that a kind is at
 * least, or empty where it says nothing, and longer. A handler that reads more gets SIGSEGV; `id` is the kind.
 */
TEST(test_no_byte_beyond_the_payload_is_read)
{
        static const int fills[] = { 0, 1, 0xff };
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uint8_t *const end = pages + page;
        static struct feed f;

        assert_true(pages != MAP_FAILED);
        assert_int_equal(mprotect(end, page, PROT_NONE), 0);
        feed_open(&f);
        for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
                memset(pages, fills[i], page);
                for (uint16_t id = 0; id < HW_KNOWN_IDS; id++) {
                        const struct hw_event_info *info = hw_event_info(id);
                        for (uint32_t size = info ? info->min_size : 0; size < LONGER; size++) {
                                struct hw_event e = { .time_ns = 1, .payload = end - size, .size = size, .id = id };
                                model_events(f.m, &e, 1);
                        }
                }
        }
        feed_close(&f);
        munmap(pages, 2 * page);
}

TEST(test_newest_value_and_sum_of_a_fact)
{
        static struct feed f;
        const double *fact;

        feed_open(&f);
        fact = &model_heap(f.m)->facts[CARRIED_LIVE_SUM];
        assert_true(isnan(*fact));
        model_collect_changes(f.m);
        model_set_fact(f.m, CARRIED_LIVE_SUM, 9 * SECOND, 0);
        assert_true(*fact == 0);
        assert_int_equal(model_collect_changes(f.m), MODEL_HEAP);
        model_set_fact(f.m, CARRIED_LIVE_SUM, 8 * SECOND, 5); /* of a block that comes late */
        assert_true(*fact == 0);
        model_set_fact(f.m, CARRIED_LIVE_SUM, 9 * SECOND, 7);
        assert_true(*fact == 7);
        model_add_fact(f.m, CARRIED_LIVE_SUM, 3);
        assert_true(*fact == 10);
        model_begin_run(f.m, 2);
        assert_true(isnan(*fact));
        model_add_fact(f.m, CARRIED_LIVE_SUM, 3);
        assert_true(*fact == 3);
        feed_close(&f);
}
