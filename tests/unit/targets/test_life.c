/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a run's life by itself: what must hold for every step of it; and how an end is judged. */
#include "tests/unit/test.h"

#include <signal.h>

#include "daemon/watch/targets/life.h"

/* The alerts of the run are in force. */
static bool has_alerts(enum life_state s)
{
        return life_in_run(s) || s == LIFE_LOST;
}

static void each_step(void (*check)(enum life_state, enum life_event, struct life_step))
{
        for (enum life_state s = 0; s < LIFE_STATES; s++)
                for (enum life_event e = 0; e < LIFE_EVENTS; e++)
                        if (life_step(s, e).listed)
                                check(s, e, life_step(s, e));
}

static void alerts_balance(enum life_state s, enum life_event e, struct life_step step)
{
        const unsigned begin = DO_BEGIN_RUN | DO_RESUME | DO_REOPEN;
        const bool begins = step.effects & begin, ends = step.effects & DO_END_ALERTS;

        if (step.next == LIFE_REMOVED)
                return;
        assert_int_equal(ends, has_alerts(s) && !has_alerts(step.next));
        if (!has_alerts(s))
                assert_int_equal(begins, has_alerts(step.next));
        else
                assert_false(step.effects & DO_BEGIN_RUN);
}

TEST(alerts_end_once)
{
        each_step(alerts_balance);
}

static void runs_balance(enum life_state s, enum life_event e, struct life_step step)
{
        if (step.next == LIFE_REMOVED)
                return;
        if (life_in_run(s) && !life_in_run(step.next))
                assert_int_equal(s, LIFE_ENDING);
        assert_int_equal((bool)(step.effects & DO_CLOSE_RUN), s != LIFE_ENDING && step.next == LIFE_ENDING);
        if (!life_in_run(s) && life_in_run(step.next))
                assert_true(step.effects & (DO_BEGIN_RUN | DO_RESUME | DO_REOPEN));
        if (step.effects & DO_BEGIN_RUN)
                assert_int_equal((bool)(step.effects & DO_KEEP_PREVIOUS), life_is_over(s)); /* no run is overwritten */
}

TEST(runs_end_once)
{
        each_step(runs_balance);
}

/* Nothing comes after the end of an AGAIN chain that would leave the state as it is for ever. */
TEST(chains_end)
{
        for (enum life_state s = 0; s < LIFE_STATES; s++) {
                for (enum life_event e = 0; e < LIFE_EVENTS; e++) {
                        enum life_state at = s;
                        struct life_step step = life_step(at, e);
                        unsigned n = 0;
                        for (; step.listed && (step.effects & DO_AGAIN); step = life_step(at, e), n++) {
                                assert_true(n < LIFE_STATES);
                                at = step.next;
                        }
                        if (n > 0)
                                assert_true(step.listed);
                }
        }
}

TEST(every_state_can_be_reached_and_left)
{
        bool reached[LIFE_STATES] = { [LIFE_WAITING] = true };

        for (unsigned round = 0; round < LIFE_STATES; round++)
                for (enum life_state s = 0; s < LIFE_STATES; s++)
                        for (enum life_event e = 0; reached[s] && e < LIFE_EVENTS; e++)
                                reached[life_step(s, e).next] = true;
        for (enum life_state s = 0; s < LIFE_STATES; s++) {
                assert_true(reached[s]);
                assert_int_equal(life_step(s, ON_REMOVE).next, LIFE_REMOVED);
                assert_non_null(life_state_name(s));
                assert_int_not_equal(life_shown(s), HW__TARGET__STATE__STATE_UNKNOWN);
        }
        for (enum life_event e = 0; e < LIFE_EVENTS; e++)
                assert_false(life_step(LIFE_REMOVED, e).listed);
}

TEST(ends_are_judged)
{
        static const struct {
                struct life_evidence known;
                enum life_event end;
        } cases[] = {
                { { .exit_known = true }, ON_END_WELL },
                { { .exit_known = true, .status = 1 }, ON_END_FAILED },
                { { .exit_known = true, .status = 1, .marked = true }, ON_END_FAILED },
                { { .exit_known = true, .status = 251, .marked = true }, ON_END_CRASHED },
                { { .exit_known = true, .status = 9 }, ON_END_FAILED },
                { { .exit_known = true, .status = 11 }, ON_END_FAILED },
                { { .exit_known = true, .signal = SIGKILL, .marked = true }, ON_END_CRASHED },
                { { .exit_known = true, .signal = SIGSEGV }, ON_END_CRASHED },
                { { .exit_known = true, .signal = SIGTERM }, ON_END_WELL },
                { { .exit_known = true, .signal = SIGINT }, ON_END_WELL },
                { { .exit_known = true, .signal = SIGHUP }, ON_END_WELL },
                { { .exit_known = true, .signal = SIGQUIT }, ON_END_CRASHED },
                { { .exit_known = true, .signal = SIGTERM, .oom_killed = true }, ON_END_CRASHED },
                { { .executed = true, .process_seen = true, .process_alive = true }, ON_END_WELL },
                { { .executed = true, .exit_known = true, .status = 1 }, ON_END_WELL },
                { { .marked = true }, ON_END_WELL },
                { { .marked = true, .ended_early = true }, ON_END_WELL },
                { { .marked = true, .process_alive = true }, ON_END_WELL },
                { { .marked = true, .ended_early = true, .process_alive = true }, ON_END_UNKNOWN },
                { { .process_seen = true, .process_alive = true }, ON_END_UNKNOWN },
                { { .process_seen = true, .may_break = true }, ON_END_CRASHED },
                { { .may_break = true }, ON_END_UNKNOWN },
                { { .disk_full = true, .process_seen = true }, ON_END_UNKNOWN },
                { { .disk_full = true, .process_seen = true, .oom_killed = true }, ON_END_CRASHED },
                { { .marked = false }, ON_END_CRASHED },
                { { .finished = true }, ON_END_UNKNOWN },
                { { .finished = true, .marked = true }, ON_END_WELL },
                { { .finished = true, .exit_known = true, .signal = SIGSEGV }, ON_END_CRASHED },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                assert_int_equal(life_judge_end(&cases[i].known), cases[i].end);
}
