/* SPDX-License-Identifier: BSD-3-Clause */
/* What is held comes back in order; what does not fit is left out, in a known place, and counted. */
#include "daemon/watch/targets/rebuild.h"

#include <string.h>

#include "tests/unit/test.h"

#define PIECE 16384u

TEST(test_order)
{
        struct held_stream h = { .first = NULL };
        uint8_t piece[1000];

        for (unsigned i = 0; i < 200; i++) {
                memset(piece, (int)i, sizeof(piece));
                held_stream_bytes(&h, piece, sizeof(piece));
        }
        held_stream_cut(&h, "it ends");
        held_stream_bytes(&h, "more", 4);
        unsigned at = 0;
        for (; h.first->kind == HELD_BYTES_OF_STREAM; held_stream_drop(&h))
                for (size_t i = 0; i < h.first->n; i++, at++)
                        assert_int_equal((uint8_t)h.first->bytes[i], at / sizeof(piece));
        assert_int_equal(at, 200 * sizeof(piece));
        assert_int_equal(h.first->kind, HELD_CUT);
        assert_string_equal(h.first->bytes, "it ends");
        held_stream_drop(&h);
        assert_int_equal(h.first->n, 4);
        held_stream_drop(&h);
        assert_null(h.first);
        assert_int_equal(h.missed, 0);
        held_stream_done(&h);
}

/* Two targets share the room; who finds none misses bytes, and knows where once there is room again. */
TEST(test_full)
{
        struct held_stream h = { .first = NULL }, other = { .first = NULL };
        static uint8_t piece[PIECE];
        uint64_t given = 0;

        held_stream_bytes(&other, piece, sizeof(piece));
        for (; !h.full; given += sizeof(piece))
                held_stream_bytes(&h, piece, sizeof(piece));
        assert_in_range(given, HELD_BYTES / 2, HELD_BYTES + sizeof(piece));
        assert_int_equal(h.missed, sizeof(piece));
        held_stream_bytes(&h, piece, sizeof(piece));
        assert_int_equal(h.missed, 2 * sizeof(piece));
        held_stream_done(&other);
        held_stream_drop(&h);
        held_stream_bytes(&h, "now", 3);
        assert_false(h.full);
        assert_int_equal(h.missed, 2 * sizeof(piece));
        unsigned missing = 0;
        for (; h.first; held_stream_drop(&h)) {
                missing += h.first->kind == HELD_MISSING;
                assert_int_equal(missing > 0 && h.first->kind != HELD_MISSING, h.first->n == 3);
        }
        assert_int_equal(missing, 1);
}
