/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: after a failed expectation the next question is what happened instead. So the alert's changes of state are
 * printed, for each band where there are bands, and its sentence when it fired.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "daemon/rules/test/rule_test.h"

#define BANDS_SHOWN   5
#define CHANGES_SHOWN 8

static bool is_of(const struct test_change *c, const char *rule, const char *band)
{
        return !strcmp(c->rule, rule) && (!band || !strcmp(c->band, band));
}

/* The order of states, to choose one for an alert with several bands. */
static int rank(enum alert_state state)
{
        static const int ranks[] = {
                [ALERT_INACTIVE] = 0, [ALERT_RESOLVED] = 1, [ALERT_PENDING] = 2, [ALERT_FIRING] = 3
        };

        return ranks[state];
}

/* Changes are in order of time, so the newest one of a band comes last. */
static enum alert_state state_of(const struct test_changes *c, const char *rule, const char *band, uint64_t time_ns)
{
        enum alert_state state = ALERT_INACTIVE;

        for (size_t i = 0; i < c->n && c->list[i].time_ns <= time_ns; i++)
                if (is_of(&c->list[i], rule, band))
                        state = c->list[i].state;
        return state;
}

enum alert_state rules_test_state(const struct test_changes *c, const char *rule, const char *band, uint64_t time_ns)
{
        enum alert_state most = ALERT_INACTIVE, state;

        if (band)
                return state_of(c, rule, band, time_ns);
        for (size_t i = 0; i < c->n && most != ALERT_FIRING; i++) {
                if (!is_of(&c->list[i], rule, NULL) || rank(c->list[i].state) <= rank(most))
                        continue; /* cannot rank higher */
                state = state_of(c, rule, c->list[i].band, time_ns);
                if (rank(state) > rank(most))
                        most = state;
        }
        return most;
}

/* -------------------------------------------------------------------- printing */

static void print_safe(const char *before, const char *text)
{
        char safe[2048];

        (void)hw_terminal_text(safe, sizeof(safe), text);
        printf("%s%s", before, safe);
}

static void print_changes_of(const struct test_changes *c, const char *rule, const char *band)
{
        const struct test_change *fired = NULL;
        char text[HW_NUMBER_MAX];
        size_t n = 0;

        print_safe("    ", rule);
        if (band[0])
                print_safe(" of ", band);
        for (size_t i = 0; i < c->n; i++) {
                const struct test_change *change = &c->list[i];
                if (!is_of(change, rule, band))
                        continue;
                if (change->state == ALERT_FIRING && !fired)
                        fired = change;
                if (n++ < CHANGES_SHOWN)
                        printf("%s %s at %s", n == 1 ? ":" : ",", alert_state_name(change->state),
                               hw_duration_text(text, sizeof(text), (double)change->time_ns));
        }
        if (n > CHANGES_SHOWN)
                printf(" and %zu more changes", n - CHANGES_SHOWN);
        printf("\n");
        if (fired) {
                print_safe("        it said: ", fired->sentence);
                printf("\n");
        }
}

void rules_test_print_changes(const struct test_changes *c, const char *rule, const char *band)
{
        const char *shown[BANDS_SHOWN];
        size_t n = 0;

        for (size_t i = 0; i < c->n; i++) {
                const struct test_change *change = &c->list[i];
                bool again = !is_of(change, rule, band);
                for (size_t k = 0; k < n && !again; k++)
                        again = !strcmp(shown[k], change->band);
                if (again)
                        continue;
                if (n == BANDS_SHOWN) {
                        printf("    and more bands\n");
                        return;
                }
                shown[n++] = change->band;
                print_changes_of(c, rule, change->band);
        }
        if (n > 0)
                return;
        print_safe("    ", rule);
        if (band)
                print_safe(" of ", band);
        printf(": its condition did not hold at any time\n");
}
