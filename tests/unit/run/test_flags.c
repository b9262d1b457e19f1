/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: which words go into GHCRTS, for programs of every kind and users who choose for themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "client/run/flags.h"

/* A program that refuses any flags that hold this text; NULL: takes all. */
static bool refuses(void *ctx, const char *flags, char *reason, size_t size)
{
        const char *refused = ctx;
        bool takes = refused == NULL || strstr(flags, refused) == NULL;

        snprintf(reason, size, "%s", takes ? "" : "unknown RTS option");
        return takes;
}

static const struct rtsinfo old = { .version = "9.0.2", .major = 9, .minor = 0, .eventlog = true, .threaded = true };
static const struct rtsinfo new_threaded = {
        .version = "9.6.6", .major = 9, .minor = 6, .eventlog = true, .threaded = true
};
static const struct rtsinfo new_plain = { .version = "9.6.6", .major = 9, .minor = 6, .eventlog = true };
static const struct rtsinfo linked = {
        .version = "9.6.6", .major = 9, .minor = 6, .eventlog = true, .with_rtsopts = "-l-au -hc -i0.5"
};
static const struct rtsinfo nonmoving = {
        .version = "9.0.2", .major = 9, .minor = 0, .eventlog = true, .with_rtsopts = "-A8m --nonmoving-gc"
};
static const struct rtsinfo none = { .version = "9.0.2", .major = 9, .minor = 0 };

struct row {
        const struct rtsinfo *info;
        const char *ghcrts, *extra, *profile, *refused;
        char *arguments[6];
        enum flags_result result;
        const char *expected;
};

static void table(void **state)
{
        static const struct row rows[] = {
                { &old, "", "", NULL, NULL, { "x" }, FLAGS_OK, "-l -ol/f -hT -i1" },
                { &new_threaded, "", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hT -i1" },
                { &new_plain, "", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hT -i1" },
                /* the user's words stay and come last */
                { &old, "-A4m  -N2", "-s", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hT -i1 -A4m  -N2 -s" },
                { &old, "-hc", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hc" },
                { &old, "-l-au", "", NULL, NULL, { NULL }, FLAGS_OK, "-ol/f -hT -i1 -l-au" },
                { &old, "-i5", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hT -i5" },
                { &old, "", "", NULL, NULL, { "+RTS", "-hd", "-RTS" }, FLAGS_OK, "-l -ol/f" },
                { &old, "", "", NULL, NULL, { "-hd" }, FLAGS_OK, "-l -ol/f -hT -i1" },
                { &old, "", "", NULL, NULL, { "--", "+RTS", "-hd" }, FLAGS_OK, "-l -ol/f -hT -i1" },
                { &old, "", "", NULL, NULL, { "+RTS", "-A1m", "--RTS", "-olx" }, FLAGS_OK, "-l -ol/f -hT -i1" },
                { &new_threaded,
                  "",
                  "--eventlog-flush-interval=0.2",
                  NULL,
                  NULL,
                  { NULL },
                  FLAGS_OK,
                  "-l -ol/f -hT -i1 --eventlog-flush-interval=0.2" },
                { &linked, "", "", NULL, NULL, { NULL }, FLAGS_OK, "-ol/f" },
                { &old, "", "", "none", NULL, { NULL }, FLAGS_OK, "-l -ol/f" },
                { &old, "-hT", "", "c", NULL, { NULL }, FLAGS_OK, "-l -ol/f -hc -i1 -hT" },
                /* the runtime accepts a heap profile beside these collectors, and then aborts */
                { &nonmoving, "", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f" },
                { &nonmoving, "--copying-gc", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -hT -i1 --copying-gc" },
                { &old, "", "", NULL, NULL, { "+RTS", "-xn" }, FLAGS_OK, "-l -ol/f" },
                { &old, "-w", "", NULL, NULL, { NULL }, FLAGS_OK, "-l -ol/f -w" },
                { &old, "", "--nonmoving-gc", "c", NULL, { NULL }, FLAGS_REFUSED, NULL },
                /* what the program does not take is left out, or refused when it must be there */
                { &old, "", "", NULL, "-hT", { NULL }, FLAGS_OK, "-l -ol/f" },
                { &old, "", "", "i", "-hi", { NULL }, FLAGS_REFUSED, NULL },
                { &old, "", "", NULL, "-ol", { NULL }, FLAGS_REFUSED, NULL },
                { &old, "-olmine", "", NULL, NULL, { NULL }, FLAGS_ELSEWHERE, NULL },
                { &old, "", "", NULL, NULL, { "+RTS", "-olmine" }, FLAGS_ELSEWHERE, NULL },
                { &old, "", "", NULL, NULL, { "+RTS", "--null-eventlog-writer" }, FLAGS_ELSEWHERE, NULL },
                { &none, "", "", NULL, NULL, { NULL }, FLAGS_NO_EVENTLOG, NULL },
        };
        (void)state;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                const struct row *r = &rows[i];
                struct flags_request request = {
                        .info = r->info,
                        .log_path = "/f",
                        .ghcrts = r->ghcrts,
                        .extra = r->extra,
                        .arguments = r->arguments,
                        .heap_profile = r->profile,
                        .accepts = refuses,
                        .ctx = (void *)(size_t)r->refused,
                };
                struct flags f;
                enum flags_result result = flags_compose(&request, &f);
                if (result != r->result)
                        fail_msg("row %zu: result %d", i, (int)result);
                if (r->expected == NULL)
                        assert_null(f.ghcrts);
                else
                        assert_string_equal(f.ghcrts, r->expected);
                flags_done(&f);
        }
}

/* Nobody needs the PROGRAM.hp of a profile that the program's own options do not have. */
static void whose_profile(void **state)
{
        static const struct {
                const char *ghcrts, *extra, *profile, *argument;
                bool bands, ours;
        } rows[] = {
                { "", "", NULL, NULL, true, true },     { "", "-hc", NULL, NULL, true, true },
                { "", "", "c", NULL, true, true },      { "-hc", "", NULL, NULL, true, false },
                { "", "", NULL, "-hc", true, false },   { "-hc", "", "c", NULL, true, false },
                { "", "", "none", NULL, false, false },
        };
        (void)state;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                char rts[] = "+RTS", word[8], *arguments[] = { rts, NULL, NULL };
                snprintf(word, sizeof(word), "%s", rows[i].argument ? rows[i].argument : "");
                arguments[1] = rows[i].argument ? word : NULL;
                struct flags_request request = { .info = &old,
                                                 .log_path = "/f",
                                                 .ghcrts = rows[i].ghcrts,
                                                 .extra = rows[i].extra,
                                                 .arguments = arguments,
                                                 .heap_profile = rows[i].profile,
                                                 .accepts = refuses };
                struct flags f;

                assert_int_equal(flags_compose(&request, &f), FLAGS_OK);
                if (f.bands != rows[i].bands || f.bands_ours != rows[i].ours)
                        fail_msg("row %zu: bands %d, ours %d", i, f.bands, f.bands_ours);
                flags_done(&f);
        }
}

static void path_with_space(void **state)
{
        char *no_arguments[] = { NULL };
        struct flags_request request = { .info = &old,
                                         .log_path = "/a b",
                                         .ghcrts = "",
                                         .extra = "",
                                         .arguments = no_arguments,
                                         .accepts = refuses };
        struct flags f;
        (void)state;

        assert_int_equal(flags_compose(&request, &f), FLAGS_BAD_PATH);
}

/* No flush unless the user wants it; why there is no profile is reported. */
static void no_flush(void **state)
{
        char *no_arguments[] = { NULL };
        struct flags_request request = { .info = &new_threaded,
                                         .log_path = "/f",
                                         .ghcrts = "",
                                         .extra = "",
                                         .arguments = no_arguments,
                                         .accepts = refuses,
                                         .ctx = "-hT" };
        struct flags f;
        (void)state;

        assert_int_equal(flags_compose(&request, &f), FLAGS_OK);
        assert_string_equal(f.ghcrts, "-l -ol/f");
        assert_false(f.flush || f.bands);
        assert_string_equal(f.reason, "unknown RTS option");
        flags_done(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(table),
                cmocka_unit_test(whose_profile),
                cmocka_unit_test(path_with_space),
                cmocka_unit_test(no_flush),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
