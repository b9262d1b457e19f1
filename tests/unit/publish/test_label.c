/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels of bands, and what distinguishes bands of one label: the same in every run of the same program. */
#include "tests/unit/model/events.h"

#include <stdio.h>

#include "daemon/publish/sentences.h"
#include "tests/unit/test.h"

static struct feed f;

static const struct band *band(uint32_t id)
{
        const struct band *b = bands_get(model_bands(f.m), id);

        assert_non_null(b);
        return b;
}

static void profile_begin(enum breakdown breakdown)
{
        ev(&f, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0), U(100000000), U(breakdown), "", "", "", "", "", "", "");
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 2, "8", U(0));
}

static void is_called(uint32_t id, const char *label, const char *name)
{
        char text[LABEL_MAX];

        assert_int_equal(label_band(text, model_bands(f.m), band(id)), strlen(label));
        assert_string_equal(text, label);
        assert_int_equal(label_band_name(text, model_bands(f.m), band(id)), strlen(name));
        assert_string_equal(text, name);
}

TEST(info_tables)
{
        static const char *const names[] = { "sat_s1_info", "Cons_con_info", "Other_info" };

        feed_open(&f);
        profile_begin(BREAKDOWN_INFO_TABLE);
        for (uint64_t i = 0; i < 3; i++) {
                char key[32];
                snprintf(key, sizeof(key), "0x%x", (unsigned)(i + 16));
                ev(&f, HW_IPE, NONE, 1, "8zzzzzz", i + 16, names[i], "21", "T", i < 2 ? "go" : "", "Main", "a.hs:1:2");
                ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 2, "18z", U(0), U(5), key);
        }
        is_called(1, "Main.go", "sat_s1_info");
        is_called(2, "Main.go", "Cons_con_info");
        is_called(3, "Other_info", ""); /* its label is its name */

        /* Growing ones are called as in the rows; two of one label are told apart, one alone is not. */
        struct growth g = { .n_bands = 2, .bands = { { .band = 2 }, { .band = 3 } } };
        char text[LABEL_MAX];
        assert_string_equal(label_of_growing(text, model_bands(f.m), &g, 0), "Main.go");
        assert_string_equal(label_of_growing(text, model_bands(f.m), &g, 1), "Other_info");
        g = (struct growth){ .n_bands = 3, .bands = { { .band = 2 }, { .band = 1 }, { .band = 99 } } };
        assert_string_equal(label_of_growing(text, model_bands(f.m), &g, 0), "Main.go (T, a.hs:1:2)");
        assert_string_equal(label_of_growing(text, model_bands(f.m), &g, 2), "?");
        feed_close(&f);
}

/* Compilers write the number of the runtime's closure types. */
TEST(closure_types)
{
        assert_string_equal(label_closure_type("1"), "CONSTR");
        assert_string_equal(label_closure_type("8"), "FUN");
        assert_string_equal(label_closure_type("19"), "THUNK_1_1");
        assert_string_equal(label_closure_type("28"), "IND_STATIC");
        assert_string_equal(label_closure_type("29"), "29"); /* of the stack, and different in each version */
        assert_string_equal(label_closure_type("1x"), "1x");
        assert_string_equal(label_closure_type("-1"), "-1");
        assert_string_equal(label_closure_type("18446744073709551617"), "18446744073709551617");
        assert_string_equal(label_closure_type(""), "");
        assert_null(label_closure_type(NULL));
}

/* Stacks of 20 centres that differ in the outermost one; the label holds the first few. */
static void name_of_deep(uint32_t outermost, char name[LABEL_MAX])
{
        uint8_t payload[10 + 20 * 4] = { 0 };
        struct hw_event e = { .payload = payload, .size = sizeof(payload), .id = HW_HEAP_PROF_SAMPLE_COST_CENTRE };
        char label[LABEL_MAX];

        feed_open(&f);
        profile_begin(BREAKDOWN_COST_CENTRE_STACK);
        for (uint64_t i = 1; i <= 21; i++) {
                char text[32];
                snprintf(text, sizeof(text), "function%u", (unsigned)i);
                ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 1, "4zzz1", i, text, "Main", "a.hs:1:2-3", U(0));
        }
        payload[8] = 1;
        payload[9] = 20;
        for (uint32_t i = 0; i < 20; i++)
                payload[10 + i * 4 + 3] = (uint8_t)(i < 19 ? i + 1 : outermost);
        model_events(f.m, &e, 1);
        label_band(label, model_bands(f.m), band(1));
        assert_string_equal(label + strlen(label) - 4, ";...");
        assert_int_equal(label_band_name(name, model_bands(f.m), band(1)), strlen("stack-0123456789abcdef"));
        feed_close(&f);
}

TEST(stacks)
{
        char one[LABEL_MAX], again[LABEL_MAX], other[LABEL_MAX];

        name_of_deep(20, one);
        name_of_deep(20, again);
        name_of_deep(21, other);
        assert_string_equal(one, again);
        assert_string_not_equal(one, other);

        feed_open(&f);
        profile_begin(BREAKDOWN_COST_CENTRE_STACK);
        ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 1, "4zzz1", U(1), "inner", "Main", "a.hs:1:2-3", U(0));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "1814", U(0), U(100), U(1), U(1));
        is_called(1, "Main.inner", "");
        feed_close(&f);
}
