/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json_out.c - the writer of JSON: commas, lines, numbers, escapes, and what is not valid UTF-8. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/document.h"
#include "proto/base/json_out.h"

static struct document d;
static struct json_out j;

static void begin(void)
{
        document_open(&d);
        assert_non_null(d.to);
        j = (struct json_out){ .to = d.to };
}

static void expect(const char *text)
{
        assert_true(document_close(&d));
        assert_string_equal(d.text, text);
        assert_int_equal(d.size, strlen(text));
        document_done(&d);
}

TEST(commas_and_lines)
{
        begin();
        json_open(&j, '{');
        json_key(&j, "a");
        json_open(&j, '[');
        json_line(&j);
        json_u64(&j, 1);
        json_line(&j);
        json_u64(&j, 2);
        json_line(&j);
        json_close(&j, ']');
        json_key(&j, "b");
        json_open(&j, '{');
        json_close(&j, '}');
        json_line(&j);
        json_key(&j, "c");
        json_raw(&j, "[7]");
        json_key(&j, "d");
        json_none(&j);
        json_key(&j, "e");
        json_bool(&j, true);
        json_close(&j, '}');
        json_newline(&j);
        expect("{\"a\":[1,\n2],\"b\":{},\n\"c\":[7],\"d\":null,\"e\":true}\n");
}

TEST(integers)
{
        begin();
        json_open(&j, '[');
        json_u64(&j, UINT64_MAX);
        json_u64_string(&j, UINT64_MAX);
        json_i64(&j, INT64_MIN);
        json_i64_string(&j, INT64_MIN);
        json_i64(&j, 0);
        json_seconds(&j, 0);
        json_seconds(&j, 1500000000);
        json_seconds(&j, UINT64_C(12000000001));
        json_close(&j, ']');
        expect("[18446744073709551615,\"18446744073709551615\",-9223372036854775808,\"-9223372036854775808\",0,0,1.5,"
               "12.000000001]");
}

TEST(doubles)
{
        static const double values[] = { 0, -0.0, 1, 0.1, -2.5, 1e15, 8999999999999999, 1e300, 1.0 / 3, NAN, INFINITY };

        begin();
        json_open(&j, '[');
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
                json_double(&j, values[i]);
        json_line(&j);
        json_rounded(&j, 1.23456);
        json_rounded(&j, 1234567.89);
        json_rounded(&j, -INFINITY);
        json_short(&j, 1.0 / 3);
        json_short(&j, 12345678901);
        json_short(&j, -12345678901);
        json_short(&j, -0.0);
        json_short(&j, NAN);
        json_close(&j, ']');
        expect("[0,0,1,0.1,-2.5,1000000000000000,8999999999999999,1e+300,0.3333333333333333,null,null,\n"
               "1.235,1234568,null,0.333333333,12345678901,-12345678901,0,null]");
}

TEST(texts)
{
        begin();
        json_open(&j, '[');
        json_text(&j, NULL);
        json_text(&j, "");
        json_text(&j, "a\"\\/\n\r\t\b\x1f\x7f");
        json_text(&j, "\xC2\x85\xE2\x80\xAE");         /* C1, bidi override */
        json_text(&j, "\xF3\xA0\x80\x81");             /* language tag: invisible, outside of the BMP */
        json_text(&j, "\xE2\x82\xAC\xF0\x9F\x98\x80"); /* as they are */
        json_text(&j, "a\xFFz\xC0\x80\xED\xA0\x80\xE2\x82");
        json_text_bytes(&j, "a\0b", 3);
        json_text_bytes(&j, NULL, 0);
        json_close(&j, ']');
        expect("[null,\"\",\"a\\\"\\\\/\\n\\r\\t\\u0008\\u001F\\u007F\",\"\\u0085\\u202E\",\"\\uDB40\\uDC01\","
               "\"\xE2\x82\xAC\xF0\x9F\x98\x80\","
               "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\","
               "\"a\\u0000b\",\"\"]");
}

TEST(base64)
{
        begin();
        json_open(&j, '[');
        for (size_t n = 0; n <= 4; n++)
                json_base64(&j, "\0\xFFzq", n);
        json_close(&j, ']');
        expect("[\"\",\"AA==\",\"AP8=\",\"AP96\",\"AP96cQ==\"]");
}

TEST(a_full_disk_shows)
{
        FILE *full = fopen("/dev/full", "w");

        assert_non_null(full);
        j = (struct json_out){ .to = full };
        json_open(&j, '{');
        json_close(&j, '}');
        assert_int_equal(fflush(full), EOF);
        assert_true(ferror(full));
        fclose(full);
}
