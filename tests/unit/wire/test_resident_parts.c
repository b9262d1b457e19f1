/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test.h"
#include <string.h>

#include "proto/wire/resident_parts.h"

TEST(in_words)
{
        Hw__Resident r = HW__RESIDENT__INIT;
        char text[512], little[12];

        assert_string_equal(resident_text(text, sizeof(text), NULL), "");
        assert_string_equal(resident_text(text, sizeof(text), &r), "");
        SET(r, rss_bytes, 63 << 20);
        SET(r, live_bytes, 1 << 20);
        SET(r, reserve_bytes, 2 << 20);
        SET(r, kept_bytes, 4 << 20);
        SET(r, given_back_bytes, 8 << 20);
        SET(r, files_bytes, 16 << 20);
        SET(r, foreign_bytes, 32 << 20);
        assert_string_equal(resident_text(text, sizeof(text), &r),
                            "RSS 63.0 MiB: live data 1.00 MiB, slop and copy reserve 2.00 MiB, kept by the runtime "
                            "4.00 MiB, given back 8.00 MiB, files 16.0 MiB, foreign 32.0 MiB");
        assert_string_equal(resident_text(little, sizeof(little), &r), "RSS 63.0 Mi");
        r.has_given_back_bytes = r.has_foreign_bytes = 0;
        SET(r, unknown_bytes, 40 << 20);
        assert_non_null(strstr(resident_text(text, sizeof(text), &r),
                               ", files 16.0 MiB, other 40.0 MiB (given back, foreign: not known separately)"));
}

/* Files that are much of RSS are named, with what is still to be written to them. */
TEST(mapped_files_in_words)
{
        Hw__Resident r = HW__RESIDENT__INIT;
        Hw__MappedFile db = HW__MAPPED_FILE__INIT, libc = HW__MAPPED_FILE__INIT, *mapped[] = { &db, &libc };
        char text[256];

        assert_string_equal(resident_files_text(text, sizeof(text), NULL), "");
        r.rss_bytes = 100 << 20;
        SET_LIST(r, mapped, mapped, 2);
        db.path = "/srv/db";
        db.resident_bytes = 80 << 20;
        libc.path = "/lib/libc.so.6";
        libc.resident_bytes = 5 << 20;
        assert_string_equal(resident_files_text(text, sizeof(text), &r), "; mapped: /srv/db 80.0 MiB");
        db.dirty_bytes = 3 << 20;
        assert_string_equal(resident_files_text(text, sizeof(text), &r),
                            "; mapped: /srv/db 80.0 MiB, of which 3.00 MiB are still to be written to it");
        SET(r, shared_bytes, 90 << 20);
        libc = db;
        libc.path = "/memfd:cache (deleted)";
        libc.dirty_bytes = 0;
        libc.held_bytes = libc.resident_bytes;
        assert_string_equal(resident_files_text(text, sizeof(text), &r),
                            "; mapped: /srv/db 80.0 MiB, of which 3.00 MiB are still to be written to it; of foreign "
                            "memory 90.0 MiB are shared memory or locked: /memfd:cache (deleted) 80.0 MiB");
        r.shared_bytes = libc.resident_bytes = db.resident_bytes = 3 << 20;
        assert_string_equal(resident_files_text(text, sizeof(text), &r), "");
}

/* The words, their order and their numbers belong together. */
TEST(each_part)
{
        Hw__Resident r = HW__RESIDENT__INIT;
        uint64_t bytes = 7;

        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                assert_false(resident_part_bytes(&r, i, &bytes));
                assert_int_equal(bytes, 7);
        }
        r.has_given_back_bytes = 1;
        assert_true(resident_part_bytes(&r, 3, &bytes));
        assert_int_equal(bytes, 0);
        assert_string_equal(resident_part_name(0), "live data");
        assert_string_equal(resident_part_name(3), "given back");
        assert_string_equal(resident_part_name(5), "foreign");
        assert_false(resident_part_bytes(NULL, 3, &bytes));
        assert_false(resident_part_bytes(&r, RESIDENT_PARTS_N, &bytes));
}
