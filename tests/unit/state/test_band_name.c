/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "tests/unit/test.h"

#include "client/world/state/band_name.h"

static void names_label(const char *label, const char *name)
{
        Hw__Band band = HW__BAND__INIT;
        struct band_name got;

        band.label = (char *)label;
        band_name(&got, &band);
        assert_string_equal(got.text, name);
        assert_int_equal(got.used, strlen(name));
}

TEST(labels_lose_the_version_of_their_package)
{
        names_label("containers-0.6.7:Data.Map.Internal.Bin", "containers:Data.Map.Internal.Bin");
        names_label("HTTP-4000.4.1-inplace:Network.HTTP.Request", "HTTP:Network.HTTP.Request");
        names_label("ghc-prim:GHC.Types.:", "ghc-prim:GHC.Types.:");
        names_label("Data.Seq.:<|", "Data.Seq.:<|");
        names_label("ARR_WORDS", "ARR_WORDS");
        names_label("", "(no label)");
        names_label(NULL, "(no label)");
}

static void a_label_is_taken_apart(const char *label, size_t package, const char *rest)
{
        struct package_label got = package_label(label);

        assert_int_equal(got.package, package);
        assert_string_equal(got.rest, rest);
}

TEST(a_package_is_told_from_a_module)
{
        a_label_is_taken_apart("containers-0.6.4.1:Data.Map.Internal.Bin", 10, "Data.Map.Internal.Bin");
        a_label_is_taken_apart("base:GHC.Base.Just", 4, "GHC.Base.Just");
        a_label_is_taken_apart("HTTP-4000.4.1:Network.HTTP", 4, "Network.HTTP");
        a_label_is_taken_apart("Data.Seq.:Foo", 0, "Data.Seq.:Foo");
        a_label_is_taken_apart(":Foo", 0, ":Foo");
        a_label_is_taken_apart("-1:Foo", 2, "Foo");
        a_label_is_taken_apart("Main.hs:12:3", 0, "Main.hs:12:3");
        a_label_is_taken_apart("", 0, "");
}

static void a_label_is_fitted(const char *label, int columns, const char *fitted)
{
        char out[128];

        assert_string_equal(fit_label(out, sizeof(out), label, columns), fitted);
}

TEST(what_tells_most_of_a_label_is_kept)
{
        a_label_is_fitted("containers:Data.Map.Internal.Bin", 32, "containers:Data.Map.Internal.Bin");
        a_label_is_fitted("containers:Data.Map.Internal.Bin", 31, "Data.Map.Internal.Bin");
        a_label_is_fitted("containers:Data.Map.Internal.Bin", 10, "…ernal.Bin");
        a_label_is_fitted("Main.go/Main.main", 8, "Main.go…");
        a_label_is_fitted("two words", 9, "two words");
}

TEST(unnamed_tables_share_a_name)
{
        Hw__Band band = HW__BAND__INIT;
        struct band_name name;

        band.label = (char *)"0x4a1b20";
        band.has_key = 1;
        band_name(&name, &band);
        assert_true(band_name_is_shared(name.text));
        assert_true(band_name_is_shared(BAND_NAME_LEFT_OUT));
        assert_false(band_name_is_shared("ARR_WORDS"));
}

/* As in a profile by closure type, and no place is claimed. */
TEST(tables_named_by_their_symbols)
{
        Hw__InfoTable table = HW__INFO_TABLE__INIT;
        Hw__Band band = HW__BAND__INIT;
        struct band_name name;
        char place[BAND_PLACE_MAX];

        table.name = (char *)"containerszm0zi6zi7_DataziMapziInternal_Bin_con_info";
        table.label = (char *)"Bin";
        table.module = (char *)"containers-0.6.7:Data.Map.Internal";
        table.source = (char *)"<symbol table>";
        band.info_table = &table;
        band_name(&name, &band);
        assert_string_equal(name.text, "containers:Data.Map.Internal.Bin");
        assert_string_equal(band_place(place, sizeof(place), &band), "named by its symbol");
        assert_null(band_source(&band));
        table.label = (char *)"ARR_WORDS";
        table.module = (char *)"";
        band_name(&name, &band);
        assert_string_equal(name.text, "ARR_WORDS");
        table.label = (char *)""; /* it could not be decoded */
        table.name = (char *)"sat_s37w_info";
        band_name(&name, &band);
        assert_string_equal(name.text, "sat");
}

TEST(long_names_are_cut)
{
        char label[4096];
        Hw__Band band = HW__BAND__INIT;
        struct band_name name;

        memset(label, 'x', sizeof(label) - 1);
        label[sizeof(label) - 1] = '\0';
        band.label = label;
        band_name(&name, &band);
        assert_int_equal(strlen(name.text), BAND_NAME_MAX - 1);
        assert_int_equal(name.used, BAND_NAME_MAX - 1);
}

static void says_place(Hw__Band *band, const char *wanted)
{
        char out[BAND_PLACE_MAX];

        assert_string_equal(band_place(out, sizeof(out), band), wanted);
}

/* What is known of type, module and source; what GHC writes instead of a place is none. */
TEST(a_band_has_a_place)
{
        Hw__Band band = HW__BAND__INIT;
        Hw__InfoTable table = HW__INFO_TABLE__INIT;
        Hw__CostCentre outer = HW__COST_CENTRE__INIT, inner = HW__COST_CENTRE__INIT;
        Hw__CostCentre *stack[] = { &inner, &outer };

        says_place(NULL, "");
        says_place(&band, "");
        band.info_table = &table;
        table.source = ":";
        says_place(&band, "");
        table.type = "Request";
        says_place(&band, "type Request");
        table.module = "Main";
        table.source = "leaky.hs:31:19-54";
        says_place(&band, "type Request, module Main, leaky.hs:31:19-54");
        table.type = "";
        says_place(&band, "module Main, leaky.hs:31:19-54");
        band.info_table = NULL;
        SET_LIST(band, stack, stack, 2);
        inner.module = "Work";
        inner.source = "<entire-module>";
        outer.source = "Work.hs:3:1-9";
        says_place(&band, "module Work, Work.hs:3:1-9");
        assert_string_equal(band_source(&band), "Work.hs:3:1-9");
}
