/* SPDX-License-Identifier: BSD-3-Clause */
/* Events from a message's columns: what does not match the types is refused, with no read beyond; text is made safe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "tests/unit/counted.h"
#include "client/out/convert/event_types.h"
#include "proto/base/json_out.h"

static struct event_types types;

/* n numbers and texts for one event of type `id` with `fields` of its fields: is it read? */
static bool is_read(uint32_t id, uint32_t fields, const uint64_t *numbers, size_t n_numbers, size_t n_texts)
{
        /* On the heap and of the exact size, so that a sanitizer sees every read beyond. */
        uint64_t *copy = malloc(n_numbers * sizeof(*copy) + 1), zero = 0;
        ProtobufCBinaryData *texts = calloc(n_texts + 1, sizeof(*texts));
        Hw__Events m = HW__EVENTS__INIT;
        struct event e;

        assert_true(copy && texts);
        memcpy(copy, numbers, n_numbers * sizeof(*copy));
        m.n_type = m.n_time_ns = m.n_offset = m.n_capability = m.n_size_bytes = m.n_fields = 1;
        m.type = &id;
        m.time_ns = m.offset = &zero;
        m.capability = m.size_bytes = m.fields = &fields;
        SET_LIST(m, numbers, copy, n_numbers);
        SET_LIST(m, texts, texts, n_texts);
        struct event_cursor c = { .types = &types, .message = &m };
        bool read = event_cursor_next(&c, &e);
        assert_int_equal(read, !c.broken);
        if (read) {
                FILE *null = fopen("/dev/null", "w");
                assert_non_null(null);
                event_print_text(null, &e);
                event_print_json(null, &e);
                fclose(null);
                assert_true(c.number == n_numbers && c.text == n_texts);
        }
        assert_false(event_cursor_next(&c, &e));
        free(copy);
        free(texts);
        return read;
}

TEST(test_columns_must_fit_their_types)
{
        static const uint64_t good[] = { 1, 2, 10, 11, 3 }, huge[] = { 1, UINT64_MAX, 10, 11, 3 };
        static const uint64_t many_texts[] = { 1, 2, 10, 11, UINT64_MAX };

        /* A type of one field of each form. */
        static char *const names[] = { "number", "text", "bytes", "numbers", "texts" };
        Hw__EventField fields[5], *list[5];
        Hw__EventType type = HW__EVENT_TYPE__INIT, *one[] = { &type };
        Hw__Events message = HW__EVENTS__INIT;

        for (int i = 0; i < 5; i++) {
                hw__event_field__init(&fields[i]);
                fields[i].name = names[i];
                SET(fields[i], form, (Hw__EventField__Form)(i + 1));
                list[i] = &fields[i];
        }
        SET(type, id, 7);
        type.name = (char *)"ALL_FORMS";
        SET_LIST(type, fields, list, 5);
        SET_LIST(message, types, one, 1);
        const Hw__Events *definitions = counted(&message.base);
        event_types_define(&types, definitions);
        hw_message_unref(&definitions->base);
        assert_true(is_read(7, 5, good, 5, 5));
        assert_true(is_read(7, 3, good, 1, 2));
        assert_true(is_read(7, 0, good, 0, 0));
        assert_false(is_read(7, 5, good, 5, 4)); /* a text is missing */
        assert_false(is_read(7, 5, good, 4, 5)); /* a number is missing */
        assert_false(is_read(7, 1, good, 0, 0));
        assert_false(is_read(7, 6, good, 5, 5)); /* more fields than the type has */
        assert_false(is_read(8, 0, good, 0, 0)); /* not defined */
        assert_false(is_read(7, 5, huge, 5, 5));
        assert_false(is_read(7, 5, many_texts, 5, 5));
        event_types_done(&types);
}

static void expect_quoted(const char *bytes, size_t n, const char *expected)
{
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);

        assert_non_null(to);
        json_quote(to, bytes, n);
        fclose(to);
        assert_string_equal(text, expected);
        free(text);
}

TEST(test_quoting)
{
        expect_quoted("", 0, "\"\"");
        expect_quoted(NULL, 0, "\"\"");
        expect_quoted("plain", 5, "\"plain\"");
        expect_quoted("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
        expect_quoted("\x1b[2J\n\0z", 7, "\"\\u001B[2J\\n\\u0000z\"");
        expect_quoted("na\xc3\xafve", 6, "\"na\xc3\xafve\"");
        expect_quoted("bad\xff!", 5, "\"bad\xef\xbf\xbd!\"");
        expect_quoted("\xe2\x80\xae", 3, "\"\\u202E\""); /* right-to-left override */
        expect_quoted("cut\xc3", 4, "\"cut\xef\xbf\xbd\"");
}
