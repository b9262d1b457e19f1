/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of many rows, read back: numbers of every size, texts of every kind, nested messages. */
#include "tests/unit/publish/support.h"

#include "daemon/publish/encode.h"
#include "tests/unit/test.h"

static struct encoder encoder;

static uint8_t *pack(const ProtobufCMessage *message, size_t *ret_size)
{
        *ret_size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(*ret_size + 1);

        assert_non_null(bytes);
        assert_int_equal(protobuf_c_message_pack(message, bytes), *ret_size);
        return bytes;
}

static uint64_t number(unsigned i)
{
        return i == 0 ? 0 : i == 65 ? UINT64_MAX : UINT64_C(1) << (i - 1) | (i & 1);
}

TEST(bands_of_tables)
{
        for (unsigned i = 0; i < 100; i++) {
                char name[5000];
                const struct info_table table = {
                        .name = name, .closure_type = "1", .source = "caf\xc3\xa9", .type = "\xff!"
                };
                const struct band band = { .id = i + 1,
                                           .key = number(i % 66),
                                           .first_seen_ns = i % 2 ? i : UNKNOWN_U64,
                                           .info_table = &table,
                                           .sampled = true,
                                           .first_bytes = number(65 - i % 66) };
                size_t size;

                memset(name, 'a' + (int)(i % 26), i * 41);
                name[i * 41] = '\0';
                encoder_init(&encoder);
                Hw__Band *out = encode_band(&encoder, NULL, &band, i % 3 == 0);
                assert_non_null(out);
                uint8_t *bytes = pack(&out->base, &size);
                Hw__Band *read = hw__band__unpack(NULL, size, bytes);
                assert_non_null(read);
                assert_int_equal(read->id, i + 1);
                assert_true(read->has_key == (band.key != 0) && read->key == band.key);
                assert_true(read->has_first_seen_ns == (i % 2 == 1) && read->has_first_bytes == (i % 3 == 0));
                assert_true(i % 3 || read->first_bytes == band.first_bytes);
                assert_int_equal(read->n_stack, 0);
                assert_string_equal(read->info_table->name,
                                    i * 41 <= LIMIT_PUBLISHED_TEXT_BYTES ? name : out->info_table->name);
                assert_string_equal(read->info_table->closure_type, "CONSTR");
                assert_string_equal(read->info_table->source, "caf\xc3\xa9");
                assert_string_equal(read->info_table->type, "\xef\xbf\xbd!"); /* is UTF-8 */
                assert_null(read->info_table->module);
                hw__band__free_unpacked(read, NULL);
                free(bytes);
                encoder_done(&encoder);
        }
}

TEST(censuses)
{
        static struct census_row rows[10000];
        static const struct census_contents contents[] = { { 3, 5, 0, "[Int]" }, { 70000, UINT64_MAX, 0, "[\xff]" } };

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
