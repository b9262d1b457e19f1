/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of our packer, read back by protobuf-c: numbers of every size, texts of every kind, nested messages. */
#include "tests/unit/publish/support.h"

#include "daemon/publish/packer.h"

static struct encoder encoder;

static void begin(struct packer *p)
{
        encoder_init(&encoder);
        packer_init(p, &encoder, 0);
}

static uint8_t *pack(const ProtobufCMessage *message, size_t *ret_size)
{
        *ret_size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(*ret_size + 1);

        assert_non_null(bytes);
        assert_int_equal(protobuf_c_message_pack(message, bytes), *ret_size);
        return bytes;
}

/* The bands that were put into the packer, as they are read. */
static Hw__Bands *read_bands(const struct packer *p)
{
        Hw__Bands out = HW__BANDS__INIT;
        size_t size;

        assert_true(packer_attach(p, BANDS_BANDS, &out.base));
        uint8_t *bytes = pack(&out.base, &size);
        Hw__Bands *read = hw__bands__unpack(NULL, size, bytes);
        assert_non_null(read);
        assert_int_equal(read->base.n_unknown_fields, 0);
        free(bytes);
        return read;
}

static uint64_t number(unsigned i)
{
        return i == 0 ? 0 : i == 65 ? UINT64_MAX : UINT64_C(1) << (i - 1) | (i & 1);
}

/* 0, every length of a varint, the largest number. */
static void integers(void **state)
{
        struct packer p;

        (void)state;
        begin(&p);
        for (unsigned i = 66; i-- > 0;) {
                size_t since = packer_used(&p);
                packer_u64(&p, 6, number(i));
                packer_known_u64(&p, 5, i % 2 ? number(i - 1) : UINT64_MAX);
                packer_u64(&p, 1, i);
                packer_message(&p, BANDS_BANDS, since);
        }
        Hw__Bands *read = read_bands(&p);
        assert_int_equal(read->n_bands, 66);
        for (unsigned i = 0; i < 66; i++) {
                const Hw__Band *b = read->bands[i];
                assert_true(b->id == i && b->has_key && b->key == number(i));
                assert_int_equal(b->has_first_seen_ns, i % 2);
                assert_true(!b->has_first_seen_ns || b->first_seen_ns == number(i - 1));
        }
        hw__bands__free_unpacked(read, NULL);
        encoder_done(&encoder);
}

/* Longer and longer texts, so that the room grows in the middle of a message; no text; bytes that are no text. */
static void texts_inside(void **state)
{
        static char text[LIMIT_PUBLISHED_TEXT_BYTES + 1];
        struct packer p;

        (void)state;
        begin(&p);
        for (unsigned i = 100; i-- > 0;) {
                size_t since = packer_used(&p), inside = since;
                memset(text, 'a' + (int)(i % 26), sizeof(text));
                text[i * 41] = '\0'; /* below LIMIT_PUBLISHED_TEXT_BYTES */
                packer_text(&p, 5, "where");
                packer_text(&p, 4, NULL);
                packer_text(&p, 1, text);
                packer_message(&p, 4, inside);
                packer_text(&p, 2, i % 10 ? "caf\xc3\xa9" : "\xff!");
                packer_message(&p, BANDS_BANDS, since);
        }
        Hw__Bands *read = read_bands(&p);
        assert_int_equal(read->n_bands, 100);
        for (unsigned i = 0; i < 100; i++) {
                const Hw__Band *b = read->bands[i];
                assert_string_equal(b->label, i % 10 ? "caf\xc3\xa9" : "\xef\xbf\xbd!");
                assert_non_null(b->info_table);
                assert_int_equal(strlen(b->info_table->name), i * 41);
                assert_true(i == 0 || b->info_table->name[i] == 'a' + (char)(i % 26));
                assert_string_equal(b->info_table->module, "where");
                assert_null(b->info_table->label);
        }
        hw__bands__free_unpacked(read, NULL);
        encoder_done(&encoder);
}

static void censuses(void **state)
{
        static struct census_row rows[10000];
        static const struct census_contents contents[] = { { 3, 5, "[Int]" }, { 70000, UINT64_MAX, "[\xff]" } };

        (void)state;
        for (uint32_t n = 0; n <= 10000; n = n * 10 + (n == 0)) {
                struct census census = { .number = 7,
                                         .time_ns = 8,
                                         .total_bytes = 9,
                                         .rows = rows,
                                         .n_rows = n,
                                         .n_counted = n > 10 ? n : 0,
                                         .contents = contents,
                                         .n_contents = n > 10 ? 2 : 0 };
                size_t size;
                encoder_init(&encoder);
                for (uint32_t i = 0; i < n; i++)
                        rows[i] = (struct census_row){ .band = i * 429497u, .bytes = number(i % 66), .closures = i };
                Hw__Census *out = encode_census(&encoder, &census);
                assert_non_null(out);
                uint8_t *bytes = pack(&out->base, &size);
                Hw__Census *read = hw__census__unpack(NULL, size, bytes);
                assert_non_null(read);
                assert_true(read->number == 7 && read->time_ns == 8 && read->total_bytes == 9 && !read->unfinished);
                assert_true(read->n_band == n && read->n_bytes == n && read->base.n_unknown_fields == 0);
                assert_true(read->n_closures == census.n_counted && read->n_contents == census.n_contents);
                for (uint32_t i = 0; i < census.n_contents; i++)
                        assert_true(read->contents[i]->band == contents[i].band &&
                                    read->contents[i]->bytes == contents[i].bytes);
                if (census.n_contents) {
                        assert_string_equal(read->contents[0]->name, "[Int]");
                        assert_string_equal(read->contents[1]->name, "[\xef\xbf\xbd]"); /* is UTF-8 */
                }
                for (uint32_t i = 0; i < n; i++)
                        assert_true(read->band[i] == rows[i].band && read->bytes[i] == rows[i].bytes &&
                                    (n <= 10 || read->closures[i] == i));
                hw__census__free_unpacked(read, NULL);
                free(bytes);
                encoder_done(&encoder);
        }
}

/* Nothing put is no field. */
static void nothing(void **state)
{
        struct packer p;

        (void)state;
        begin(&p);
        Hw__Bands *read = read_bands(&p);
        assert_int_equal(read->n_bands, 0);
        hw__bands__free_unpacked(read, NULL);
        encoder.failed = true;
        assert_false(packer_attach(&p, BANDS_BANDS, NULL));
        encoder_done(&encoder);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(integers),
                cmocka_unit_test(texts_inside),
                cmocka_unit_test(censuses),
                cmocka_unit_test(nothing),
        };

        return cmocka_run_group_tests_name("packer", tests, NULL, NULL);
}
