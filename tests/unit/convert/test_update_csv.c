/* SPDX-License-Identifier: BSD-3-Clause */
/* test_csv.c - quoting, and rows of samples, censuses and notes. */
#include "tests/unit/test.h"

#include "client/out/convert/update_csv.h"
#include "proto/base/csv.h"
#include "tests/unit/state/apply.h"
#include "tests/unit/console/made_up.h"

TEST(fields_are_quoted)
{
        static const struct {
                const char *text, *field;
        } cases[] = {
                { "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0" },
                { "+1+1", "'+1+1" },
                { "-1", "'-1" },
                { "@SUM(1,1)", "\"'@SUM(1,1)\"" },
                { "plain", "plain" },
                { "", "" },
                { "a,b", "\"a,b\"" },
                { "say \"hi\"", "\"say \"\"hi\"\"\"" },
                { "two\nlines", "two\\nlines" },
                { "\x1b[31m", "\\x1B[31m" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                char *cell = csv_cell(cases[i].text);

                assert_string_equal(cell, cases[i].field);
                free(cell);
        }
}

/* Checks the rows of an update, to which the world has been brought. */
static void check_rows(const struct world *v, const Hw__Update *u, const char *rows)
{
        char *text = NULL;
        size_t n = 0;
        struct csv_out out = { .to = open_memstream(&text, &n), .headed = true };

        csv_update(&out, v, 0, u);
        assert_int_equal(fclose(out.to), 0);
        assert_false(out.no_memory);
        assert_string_equal(text, rows);
        free(text);
}

TEST(samples_become_rows)
{
        struct world *v = world_new(NULL);
        Hw__Update u = update_of("a", 1, 2 * SECOND);
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Samples samples = HW__SAMPLES__INIT;
        Hw__Samples *list[] = { &samples };
        uint64_t times_ns[] = { 1500000000, 2000000001 }, values[] = { 5, UINT64_MAX };

        assert_int_equal(send_state(v, 0, "a", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        SET(samples, series, HW__SERIES__SERIES_LIVE);
        samples.n_times_ns = samples.n_values = 2;
        samples.times_ns = times_ns;
        samples.values = values;
        SET_LIST(heap, samples, list, 1);
        SET(heap, allocation_rate_bps, 1.5);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(apply_made(v, 0, &u), 0);
        check_rows(v, &u,
                   "a,1,1.500000000,2023-11-14T22:13:21.500Z,live,B,5,,\n"
                   "a,1,2.000000001,2023-11-14T22:13:22.000Z,live,B,18446744073709551615,,\n"
                   "a,1,2.000000000,2023-11-14T22:13:22.000Z,allocation_rate,B/s,1.5,,\n");
        u.run = 2; /* not in the world yet: no rows under a wrong name */
        check_rows(v, &u, "");
        world_destroy(&v);
}

TEST(censuses_and_notes_become_rows)
{
        struct world *v = world_new(NULL);
        uint32_t ids[] = { 1, 2 };
        uint64_t bytes[] = { 10, 20 };
        Hw__Update u = update_of("a", 1, SECOND);
        Hw__Census c = census_of(1, ids, bytes, 2);
        Hw__Notes notes = HW__NOTES__INIT;
        Hw__Note note = HW__NOTE__INIT;
        Hw__Note *list[] = { &note };

        assert_int_equal(send_band(v, "a", 1, 1, "x, \"y\""), 0);
        assert_int_equal(send_census(v, "a", 1, 1, ids, bytes, 2), 0);
        SET(c, rows_left_out, 3);
        SET(c, bytes_left_out, 99);
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &c;
        check_rows(v, &u,
                   "a,1,1.000000000,,band,B,10,1,\"x, \"\"y\"\"\"\n"
                   "a,1,1.000000000,,band,B,20,2,band 2\n"
                   "a,1,1.000000000,,bands_left_out,B,99,,\n");
        note.text = (char *)"phase\t2";
        SET_LIST(notes, notes, list, 1);
        u.body_case = HW__UPDATE__BODY_NOTES;
        u.notes = &notes;
        check_rows(v, &u, "a,1,,,note,,,,phase\\t2\n");
        world_destroy(&v);
}
