/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine of one alert, over scripts of results: 1 holds, 0 does not, ? unknown, one a second. */
#include "tests/unit/rules/made_up.h"
#include "tests/unit/test.h"

static const char letters[] = { 'i', 'P', 'F', 'r' };

/* The states after each answer. `over`: NULL = the opposite of holds. */
static void play(const char *holds, const char *over, uint64_t for_s, uint64_t keep_s, char *out)
{
        struct state s;
        struct state_times times = { for_s * S, keep_s * S };

        state_init(&s);
        s.judged_ns = 0;
        for (size_t i = 0; holds[i]; i++) {
                double h = holds[i] == '?' ? (double)NAN : holds[i] == '1';
                double o = over ? (over[i] == '?' ? (double)NAN : over[i] == '1') : isnan(h) ? h : h == 0;
                state_step(&s, &times, h, o, (i + 1) * S);
                out[i] = letters[s.now];
        }
        out[strlen(holds)] = '\0';
}

TEST(scripts)
{
        static const struct {
                const char *holds, *over;
                uint64_t for_s, keep_s;
                const char *want;
        } cases[] = {
                { "0110", NULL, 0, 0, "iFFr" },
                { "01111100", NULL, 3, 0, "iPPPFFrr" },
                { "0110111", NULL, 3, 0, "iPPiPPP" }, /* a break begins again */
                { "01?1111", NULL, 3, 0, "iPPPPPF" }, /* what was unknown does not count */
                { "011???0", NULL, 1, 0, "iPFFFFr" }, /* unknown neither resolves ... */
                { "1????", NULL, 2, 0, "PPPPP" },     /* ... nor fires */
                { "1110000", NULL, 0, 2, "FFFFFrr" },
                { "1101010", NULL, 0, 2, "FFFFFFF" },   /* keep_firing_for begins again */
                { "100??000", NULL, 0, 3, "FFFFFFFr" }, /* it does not run on while unknown */
                { "111000", "000001", 0, 0, "FFFFFr" }, /* until decides when it is over */
                { "10000", "0??01", 0, 0, "FFFFr" },
                { "1010", NULL, 0, 0, "FrFr" }, /* it may come again */
                { "?1", NULL, 0, 0, "iF" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                char got[32];
                play(cases[i].holds, cases[i].over, cases[i].for_s, cases[i].keep_s, got);
                if (strcmp(got, cases[i].want) != 0)
                        fail_msg("%s: %s, expected %s", cases[i].holds, got, cases[i].want);
        }
}

TEST(times_are_kept)
{
        struct state s;
        struct state_times times = { 2 * S, 0 };

        state_init(&s);
        assert_true(state_step(&s, &times, 1, 0, 5 * S));
        assert_int_equal(s.active_ns, 5 * S);
        assert_false(state_step(&s, &times, 1, 0, 6 * S));
        assert_true(state_step(&s, &times, 1, 0, 7 * S));
        assert_int_equal(s.fired_ns, 7 * S);
        assert_false(state_step(&s, &times, 0, 1, 6 * S)); /* time does not go back */
        assert_int_equal(s.now, ALERT_FIRING);
        assert_true(state_end(&s, 9 * S));
        assert_int_equal(s.now, ALERT_RESOLVED);
        assert_int_equal(s.resolved_ns, 9 * S);
        assert_false(state_end(&s, 9 * S));
}
