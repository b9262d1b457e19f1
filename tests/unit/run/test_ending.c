/* SPDX-License-Identifier: BSD-3-Clause */
/* ending: until when `run` asks the daemon about the end of a program. */
#include "tests/unit/test.h"

#include "client/launch/run/run_private.h"
#include "client/world/state/world.h"

static bool is_settled(Hw__Target__State state, uint32_t runs, bool lives)
{
        Hw__Target target = HW__TARGET__INIT;

        target.state = state;
        target.runs = runs;
        return run_end_is_settled(&target, lives);
}

TEST(test_only_what_is_on_its_way_is_waited_for)
{
        /* The log is being read, or its connection has just been made. */
        assert_false(is_settled(HW__TARGET__STATE__STATE_RUNNING, 1, false));
        assert_false(is_settled(HW__TARGET__STATE__STATE_CONNECTED, 0, false));
        /* Lost, between two connections: its end is known as soon as it was reported. */
        assert_false(is_settled(HW__TARGET__STATE__STATE_WAITING, 1, false));
        assert_true(is_settled(HW__TARGET__STATE__STATE_ENDED, 1, false));
        assert_true(is_settled(HW__TARGET__STATE__STATE_CRASHED, 1, false));
        /* Killed before the daemon connected: nothing will come. */
        assert_true(is_settled(HW__TARGET__STATE__STATE_WAITING, 0, false));
        /* A wrapper has ended, and the program below it goes on, as soon as it is seen. */
        assert_true(is_settled(HW__TARGET__STATE__STATE_RUNNING, 1, true));
        assert_false(is_settled(HW__TARGET__STATE__STATE_WAITING, 0, true));
}

/* The largest band is named as on every other face: by what it holds. */
TEST(test_a_band_is_named_by_its_contents)
{
        char text[512];
        Hw__Census census = HW__CENSUS__INIT;
        Hw__BandContents contents = HW__BAND_CONTENTS__INIT;
        Hw__Band def = HW__BAND__INIT;
        struct world_band band = { .id = 1, .seen = true, .def = &def, .bytes = 1000, .contents = &contents };
        struct world_target t = { .census = &census, .bands = (struct world_band *[]){ &band }, .n_bands = 1 };

        def.label = (char *)"ghc-prim:GHC.Types.:";
        contents.name = (char *)"[Char]";
        SET(contents, bytes, 699);
        run_facts_text(text, sizeof(text), &t);
        assert_string_equal(text, "; largest band at the end: [Char] (69.9 % of GHC.Types.:), 1000 B");
}

/* The deploy that growth is seen to begin with is named as on every other face. */
TEST(test_a_note_within_the_onset_is_named_so)
{
        char text[512];
        Hw__Trend trend = HW__TREND__INIT;
        Hw__Note ready = HW__NOTE__INIT, deploy = HW__NOTE__INIT;

        trend.sentence = (char *)"grew";
        SET(trend, onset_ns, 56500000000);
        trend.note_before = &ready;
        trend.note_after = &deploy;
        ready.text = (char *)"service ready";
        deploy.text = (char *)"deploy";
        SET(ready, time_ns, 10000000);
        SET(deploy, time_ns, 60000000000);
        run_verdict_text(text, sizeof(text), &trend);
        assert_string_equal(text, "grew; growth began 56.5 s into the run, after \"service ready\", before \"deploy\"");
        SET(trend, onset_error_ns, 4380000000);
        run_verdict_text(text, sizeof(text), &trend);
        assert_string_equal(text,
                            "grew; growth began 56.5 s into the run, give or take 4.38 s; "
                            "\"deploy\" falls within it");
}
