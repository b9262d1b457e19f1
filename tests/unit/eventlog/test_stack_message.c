/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of ghc-stack-profiler 0.4 and 0.5, and all that is none. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/bytes.h"
#include "proto/eventlog/stack_message.h"

static uint8_t bytes[70000];
static size_t n;

static void put(uint64_t value, unsigned width)
{
        put_be(bytes + n, value, width);
        n += width;
}

static void begin_message(uint16_t tag)
{
        n = 0;
        put(tag, 2);
}

static bool read_message(struct stack_message *m)
{
        uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees what reads too far */

        assert_non_null(exact);
        memcpy(exact, bytes, n);
        bool is_read = stack_message_read(exact, n, m);
        if (is_read && m->bytes)
                m->bytes = bytes + (m->bytes - exact);
        free(exact);
        return is_read;
}

static void put_part(uint16_t tag, unsigned thread_bytes, uint64_t thread)
{
        begin_message(tag);
        put(3, 4);
        put(thread, thread_bytes);
        put(3, 2);
        put(1, 1);
        put(0x1122334455667788, 8);
        put(2, 1);
        put(7, 8);
        put(3, 1);
        put(8, 8);
        put(9, 8);
}

static void check_part(enum stack_message_kind kind, uint64_t thread)
{
        struct stack_message m;
        struct stack_message_frame f;
        size_t at = 0;

        assert_true(read_message(&m));
        assert_int_equal(m.kind, kind);
        assert_int_equal(m.capability, 3);
        assert_int_equal(m.thread, thread);
        assert_true(stack_message_next(&m, &at, &f));
        assert_true(f.kind == STACK_FRAME_CODE && f.id == 0x1122334455667788);
        assert_true(stack_message_next(&m, &at, &f));
        assert_true(f.kind == STACK_FRAME_TEXT && f.id == 7);
        assert_true(stack_message_next(&m, &at, &f));
        assert_true(f.kind == STACK_FRAME_PLACED && f.id == 8 && f.place == 9);
        assert_false(stack_message_next(&m, &at, &f));
}

TEST(test_stacks)
{
        struct stack_message m;

        put_part(0xffca, 4, 77);
        check_part(STACK_MESSAGE_LAST, 77);
        put_part(0xffcb, 8, 77);
        check_part(STACK_MESSAGE_PART, 77);
        put_part(0xffca, 4, UINT32_MAX);
        check_part(STACK_MESSAGE_LAST, UINT32_MAX);
        for (unsigned width = 4; width <= 8; width += 4) { /* an empty stack, in both versions */
                begin_message(0xffca);
                put(1, 4);
                put(2, width);
                put(0, 2);
                assert_true(read_message(&m));
                assert_true(m.thread == 2 && m.size == 0);
        }
        for (unsigned width = 4; width <= 8; width += 4) {
                put_part(0xffca, width, 5);
                while (n-- > 0) /* cut anywhere */
                        assert_false(read_message(&m));
                put_part(0xffca, width, 5);
                put(0, 1); /* a byte too many */
                assert_false(read_message(&m));
                put_part(0xffca, width, 5);
                bytes[width + 8] = 4; /* a frame of no known kind */
                assert_false(read_message(&m));
        }
}

TEST(test_definitions)
{
        static const char text[] = "\xce\xbbx";
        struct stack_message m;

        for (unsigned count = 2; count <= 3; count++) { /* 0.4 counts characters, 0.5 bytes */
                begin_message(0xffcc);
                put(12, 8);
                put(count, 2);
                memcpy(bytes + n, text, 3);
                n += 3;
                assert_true(read_message(&m));
                assert_true(m.kind == STACK_MESSAGE_STRING && m.id == 12 && m.size == 3);
                assert_memory_equal(m.bytes, text, 3);
                assert_true(stack_message_defines(bytes, n));
                bytes[n++] = 'y';
                assert_int_equal(read_message(&m), count == 3); /* three characters again */
        }
        begin_message(0xffcc);
        put(12, 8);
        put(1, 2);
        put(0xff00, 2); /* neither one byte nor one character */
        assert_false(read_message(&m));
        begin_message(0xffcd);
        put(4, 8);
        put(10, 4);
        put(20, 4);
        put(12, 8);
        assert_true(read_message(&m) && stack_message_defines(bytes, n));
        assert_true(m.kind == STACK_MESSAGE_PLACE && m.id == 4 && m.line == 10 && m.column == 20 && m.file == 12);
        n--;
        assert_false(read_message(&m));
        begin_message(0xffc0);
        put(0, 1);
        assert_true(read_message(&m) && m.kind == STACK_MESSAGE_VERSION);
        assert_false(stack_message_defines(bytes, n));
}

TEST(test_foreign)
{
        struct stack_message m;

        n = 0;
        assert_false(read_message(&m));
        for (unsigned first = 0; first < 0x10000; first++) {
                begin_message((uint16_t)first);
                assert_false(read_message(&m)); /* a tag alone is no message */
        }
        begin_message(0x4f54); /* "OT", of OpenTelemetry */
        put(0, 8);
        assert_false(read_message(&m));
}
