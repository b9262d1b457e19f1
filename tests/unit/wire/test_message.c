/* SPDX-License-Identifier: BSD-3-Clause */
/* Counted messages: a kept part outlives the message it came in; the rest is freed (a sanitizer checks it). */

#include "tests/unit/test.h"

#include "proto/wire/message.h"
#include "tests/unit/base/short_memory.h"
#include "tests/unit/counted.h"

static const Hw__Update *two_notes(void)
{
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Notes notes = HW__NOTES__INIT;
        Hw__Note a = HW__NOTE__INIT, b = HW__NOTE__INIT, *list[] = { &a, &b };

        SET(a, number, 1);
        SET(b, number, 2);
        a.text = (char *)(uintptr_t) "first";
        b.text = (char *)(uintptr_t) "second";
        SET_LIST(notes, notes, list, 2);
        u.target = (char *)(uintptr_t) "api";
        u.body_case = HW__UPDATE__BODY_NOTES;
        u.notes = &notes;
        return counted(&u.base);
}

TEST(a_part_outlives_the_whole)
{
        const Hw__Update *u = two_notes();
        const Hw__Note *second = hw_message_ref(&u->notes->notes[1]->base);

        assert_ptr_equal(hw_update_ref(u), u);
        hw_update_unref(u);
        assert_string_equal(u->notes->notes[0]->text, "first");
        hw_update_unref(u);
        assert_string_equal(second->text, "second");
        hw_message_unref(&second->base);
        assert_null(hw_message_ref(NULL));
        hw_message_unref(NULL);
        hw_update_unref(hw_update_ref(NULL));
        hw_reply_unref(NULL);
}

TEST(unknown_fields_and_bytes_go_too)
{
        static const uint8_t newer[] = { 0xfa, 0xff, 0x03, 2, 'h', 'i', 0xf8, 0xff, 0x03, 7 }; /* of fields it lacks */
        const char *reason;
        const Hw__Update *u = hw_update_unpack(newer, sizeof(newer), &reason);

        assert_non_null(u);
        assert_int_equal(u->base.n_unknown_fields, 2);
        hw_update_unref(u);

        Hw__Events events = HW__EVENTS__INIT;
        ProtobufCBinaryData texts[] = { { 2, (uint8_t *)(uintptr_t) "ab" }, { 0, NULL } };
        uint64_t numbers[] = { 1, 2, 3 };
        SET_LIST(events, texts, texts, 2);
        SET_LIST(events, numbers, numbers, 3);
        const Hw__Events *e = counted(&events.base);
        assert_memory_equal(e->texts[0].data, "ab", 2);
        hw_message_unref(&e->base);
}

TEST(requests_are_the_librarys)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        uint8_t packed[128];
        const char *reason;

        assert_int_equal(hw_request_add_target(r->snapshot, "api"), 0);
        assert_int_equal(hw_request_add_target(r->snapshot, "worker"), 0);
        assert_int_equal(hw_request_add_kind(r->snapshot, HW__KIND__KIND_HEAP), 0);
        assert_int_equal(hw_request_add_kind(r->snapshot, HW__KIND__KIND_GC), 0);
        Hw__Request *read = hw_request_unpack(packed, hw__request__pack(r, packed), &reason);
        assert_int_equal(read->snapshot->n_targets, 2);
        assert_string_equal(read->snapshot->targets[1], "worker");
        assert_int_equal(read->snapshot->kinds[1], HW__KIND__KIND_GC);
        hw_request_destroy(&read);
        assert_null(read);
        hw_request_destroy(&r);
        hw_request_destroy(&r);

        r = hw_request_new(HW__REQUEST__WHAT_HISTORY);
        assert_int_equal(hw_request_set_text(&r->history->target, "api"), 0);
        assert_int_equal(hw_request_set_text(&r->history->target, "worker"), 0); /* in place of the first */
        assert_string_equal(r->history->target, "worker");
        hw_request_destroy(&r);

        for (int what = HW__REQUEST__WHAT_SNAPSHOT; what <= HW__REQUEST__WHAT_SILENCES; what++) {
                r = hw_request_new((Hw__Request__WhatCase)what);
                assert_non_null(r);
                assert_int_equal(r->what_case, what);
                assert_non_null(r->snapshot); /* of whatever kind: they share their place */
                hw_request_destroy(&r);
        }
        assert_null(hw_request_new(HW__REQUEST__WHAT__NOT_SET));
        assert_null(hw_request_new((Hw__Request__WhatCase)1)); /* a field, but no body */
        assert_null(hw_request_new((Hw__Request__WhatCase)999));
}

static void assert_same_bytes(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
        uint8_t bytes_a[256], bytes_b[256];
        const size_t n = protobuf_c_message_get_packed_size(a);

        assert_in_range(n, 1, sizeof(bytes_a));
        assert_int_equal(protobuf_c_message_get_packed_size(b), n);
        (void)protobuf_c_message_pack(a, bytes_a);
        (void)protobuf_c_message_pack(b, bytes_b);
        assert_memory_equal(bytes_a, bytes_b, n);
}

/* Of what is not there a copy has the default, as what was unpacked. When memory is short there is no copy. */
TEST(a_copy_is_whole)
{
        const Hw__Update *u = two_notes();
        Hw__Note unset = HW__NOTE__INIT;
        Hw__Events events = HW__EVENTS__INIT;
        ProtobufCBinaryData texts[] = { { 2, (uint8_t *)(uintptr_t) "ab" }, { 0, NULL } };
        uint64_t numbers[] = { 1, 2, 3 };

        ProtobufCMessage *copy = message_copy(&u->base);
        assert_same_bytes(copy, &u->base);
        hw_message_unref(copy);
        for (fail_at = 1;; fail_at++) {
                counting = true;
                calls = 0;
                copy = message_copy(&u->base);
                counting = false;
                if (copy)
                        break;
        }
        assert_int_equal(fail_at, 9); /* two for the update, two for the notes, two for each, one more: none fails */
        fail_at = 0;
        hw_message_unref(copy);
        hw_update_unref(u);

        SET_LIST(events, texts, texts, 2);
        SET_LIST(events, numbers, numbers, 3);
        copy = message_copy(&events.base);
        assert_same_bytes(copy, &events.base);
        hw_message_unref(copy);

        unset.number = 7; /* without has_number */
        copy = message_copy(&unset.base);
        assert_int_equal(((Hw__Note *)copy)->number, 0);
        hw_message_unref(copy);
}
