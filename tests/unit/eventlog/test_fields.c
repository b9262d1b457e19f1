/* SPDX-License-Identifier: BSD-3-Clause */
/* The event table and the walk through a payload's fields. */
#include "tests/unit/eventlog/logs.h"
#include "tests/unit/test.h"

static struct hw_field_value field(const struct hw_event *e, unsigned index)
{
        struct hw_field_value v;
        assert_true(hw_event_field(e, index, &v));
        return v;
}

static void check_bytes(struct hw_field_value v, const char *text)
{
        assert_int_equal(v.size, strlen(text));
        assert_memory_equal(v.bytes, text, v.size);
}

/* Minimal sizes never exceed what the fields say, numbers only. */
TEST(test_table_is_consistent)
{
        static const uint8_t width[] = { 1, 2, 4, 8 };
        unsigned known = 0;
        for (unsigned id = 0; id < HW_EVENT_IDS; id++) {
                const struct hw_event_info *info = hw_event_info((uint16_t)id);
                if (!info)
                        continue;
                size_t numbers = 0;
                known++;
                assert_true(id < HW_KNOWN_IDS);
                assert_true(info->n_fields <= HW_EVENT_MAX_FIELDS);
                assert_true(info->n_fields == HW_EVENT_MAX_FIELDS || !info->fields[info->n_fields].name);
                for (unsigned i = 0; i < info->n_fields; i++) {
                        assert_non_null(info->fields[i].name);
                        numbers += info->fields[i].type <= HW_FIELD_U64 ? width[info->fields[i].type] : 1;
                }
                assert_true(info->min_size <= numbers);
        }
        assert_true(known > 110);
        assert_string_equal(hw_event_info(HW_GC_STATS_GHC)->name, "GC_STATS_GHC");
        assert_null(hw_event_info(170));
        assert_null(hw_event_info(65535));
}

TEST(test_strings_between_numbers)
{
        static const uint8_t p[] = "\0\0\0\x07main\0Main\0a.hs:1\0\x01";
        struct hw_event e = { .payload = p, .size = sizeof(p) - 1, .id = HW_HEAP_PROF_COST_CENTRE };
        assert_int_equal(field(&e, 0).number, 7);
        check_bytes(field(&e, 1), "main");
        check_bytes(field(&e, 2), "Main");
        check_bytes(field(&e, 3), "a.hs:1");
        assert_int_equal(field(&e, 4).number, 1);
        struct hw_field_value v;
        assert_false(hw_event_field(&e, 5, &v));
        e.size = 6; /* cut in the label: the rest of the payload is its text, then nothing */
        check_bytes(field(&e, 1), "ma");
        assert_false(hw_event_field(&e, 2, &v));
}

TEST(test_text_before_a_number_and_trailing_nuls)
{
        static const uint8_t interned[] = "name\0\0\x01\x02";
        struct hw_event e = { .payload = interned, .size = 8, .id = HW_INTERN_STRING };
        check_bytes(field(&e, 0), "name");
        assert_int_equal(field(&e, 1).number, 0x102);
        static const uint8_t args[] = "\0\0\0\0a\0\0b\0";
        e = (struct hw_event){ .payload = args, .size = 9, .id = HW_PROGRAM_ARGS };
        struct hw_field_value v = field(&e, 1);
        assert_int_equal(v.size, 4);
        assert_memory_equal(v.bytes, "a\0\0b", 4);
        static const uint8_t message[] = "hi\0\0";
        e = (struct hw_event){ .payload = message, .size = 4, .id = HW_USER_MSG };
        check_bytes(field(&e, 0), "hi");
        e.id = HW_USER_BINARY_MSG;
        assert_int_equal(field(&e, 0).size, 4);
}

TEST(test_stack_that_claims_too_much)
{
        static const uint8_t p[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 200, 0, 0, 0, 5, 0, 0, 0, 6, 9 };
        struct hw_event e = { .payload = p, .size = sizeof(p), .id = HW_HEAP_PROF_SAMPLE_COST_CENTRE };
        struct hw_field_value v = field(&e, 2);
        assert_int_equal(v.number, 2);
        assert_int_equal(v.size, 8);
}

TEST(test_census_of_both_sizes)
{
        static const uint8_t old[] = { 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3 };
        static const uint8_t new[] = { 0, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3 };
        struct hw_event e = { .payload = old, .size = 13, .id = HW_NONMOVING_HEAP_CENSUS };
        assert_int_equal(field(&e, 0).number, 16);
        assert_int_equal(field(&e, 3).number, 3);
        e = (struct hw_event){ .payload = new, .size = 14, .id = HW_NONMOVING_HEAP_CENSUS };
        assert_int_equal(field(&e, 0).number, 24);
        assert_int_equal(field(&e, 3).number, 3);
}

TEST(test_fields_that_came_later)
{
        static const uint8_t p[58] = { [57] = 9 };
        struct hw_field_value v;
        struct hw_event e = { .payload = p, .size = 50, .id = HW_GC_STATS_GHC };
        e.size = 58;
        assert_int_equal(hw_event_info(HW_GC_STATS_GHC)->n_fields, 9);
        assert_int_equal(field(&e, 8).number, 9);
        e.size = 50;
        assert_false(hw_event_field(&e, 8, &v));
        e.id = 170;
        assert_false(hw_event_field(&e, 0, &v));
}

/* Real logs: every declared field of every event is there, but for those that later releases added. */
TEST(test_fields_of_real_events)
{
        static const char *const runs[] = { "leaky-hi-ghc966", "cc-hc-ghc9103", "ticky-ghc902",
                                            "nonmoving-census-ghc9103" };
        for (size_t r = 0; r < 4; r++) {
                struct bytes b = load_run(runs[r]);
                struct hw_eventlog *log = fresh();
                struct hw_event events[128];
                size_t n, checked = 0;
                enum hw_eventlog_status s;
                hw_eventlog_input(log, b.p, b.size);
                do {
                        s = hw_eventlog_read(log, events, 128, &n);
                        for (size_t i = 0; i < n; i++) {
                                const struct hw_event_info *info = hw_event_info(events[i].id);
                                assert_non_null(info);
                                unsigned have = 0;
                                struct hw_field_value v;
                                while (hw_event_field(&events[i], have, &v))
                                        have++;
                                unsigned optional = events[i].id == HW_TICKY_COUNTER_DEF ? 2 : 0;
                                assert_true(have + optional >= info->n_fields);
                                checked++;
                        }
                } while (s != HW_EVENTLOG_NEED_MORE);
                assert_true(checked > 2000);
                hw_eventlog_destroy(&log);
                free(b.p);
        }
}
