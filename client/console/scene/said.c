/* SPDX-License-Identifier: BSD-3-Clause */
/* said.c - the answers of one target at a time, in the clock of the view. */
#include "client/console/scene/trends.h"

#include <stdio.h>
#include <string.h>

static void format_alerts(char *out, size_t size, const Hw__Alerts *all)
{
        size_t n = 0;

        out[0] = '\0';
        for (size_t i = 0; all && i < all->n_alerts && n < size; i++)
                if (alert_counts(all, all->alerts[i]))
                        n += (size_t)snprintf(out + n, size - n, "%s%.63s (%s)", n ? ", " : "",
                                              all->alerts[i]->rule ? all->alerts[i]->rule : "?",
                                              severity_name(alert_severity(all->alerts[i])));
}

/* In a sentence, where "since 700 ms" would not say of what. */
static void format_moment(char out[SHORT_TEXT], const struct scene *s, const struct world_target *t, uint64_t time_ns)
{
        const size_t n = strlen(scene_when(out, SHORT_TEXT, s, t, time_ns));

        if (!scene_start_wall_ns(s, t))
                (void)snprintf(out + n, SHORT_TEXT - n, " into the run");
}

static void format_answers(struct answer_memo *m, const struct scene *s, const struct world_target *t)
{
        char when[SHORT_TEXT] = "";
        uint64_t age_ns;

        for (int q = 0; q < QUESTIONS; q++) {
                const struct target_answer *a = &m->a.answer[q];

                if (a->has_time)
                        format_moment(when, s, t, a->time_ns);
                (void)answer_whole(m->whole[q], sizeof(m->whole[q]), a, when);
        }
        format_alerts(m->alerts, sizeof(m->alerts), t->alerts);
        if (scene_stale(s, t, &age_ns))
                (void)snprintf(m->whole[QUESTION_NEXT], sizeof(m->whole[QUESTION_NEXT]),
                               "Find out why heapwatchd is gone (its log; `heapwatch status` once it runs again)%s",
                               scene_over(s, t) ? "" : "; the program itself continues");
        if (m->a.has_onset)
                format_moment(when, s, t, m->a.onset_ns);
        if (answers_grow(&m->a))
                (void)answers_headline(m->headline, sizeof(m->headline), &m->a, when);
        else
                (void)snprintf(m->headline, sizeof(m->headline), "%s %s", question_text(QUESTION_WRONG),
                               m->whole[QUESTION_WRONG]);
}

const struct answer_memo *scene_answered(const struct scene *s, const struct world_target *t)
{
        struct answer_memo *m = s->answered;

        if (m->t != t) {
                answers_of(&m->a, t, s->live);
                format_answers(m, s, t);
                m->t = m->brief = t;
        }
        return m;
}

const struct answers *scene_brief(const struct scene *s, const struct world_target *t)
{
        struct answer_memo *m = s->answered;

        if (m->brief != t) {
                answers_brief(&m->a, t, s->live);
                m->brief = t;
                m->t = NULL;
        }
        return &m->a;
}

enum tint answer_tint(enum answer_tone tone)
{
        static const enum tint tints[] = {
                [ANSWER_DIM] = TINT_PLAIN,
                [ANSWER_GOOD] = TINT_GOOD,
                [ANSWER_WARN] = TINT_WARN,
                [ANSWER_BAD] = TINT_BAD,
        };

        return tints[tone];
}

struct value answered_word(const struct scene *s, const struct world_target *t)
{
        return value_text(scene_brief(s, t)->word);
}

struct value answered_rank(const struct scene *s, const struct world_target *t)
{
        return value_number(true, scene_brief(s, t)->rank);
}

/* Nothing decides yet, and live data has no verdict either: its own is what there is so far. */
static bool live_in_doubt(const struct answers *a, const struct world_target *t)
{
        return a->verdict == HW__VERDICT__VERDICT_UNKNOWN && !trend_known(target_trend(t));
}

/* Of the trend that decides; before its verdict, of live data so far; steady has none (the series' table has it). */
struct value answered_slope(const struct scene *s, const struct world_target *t)
{
        const struct answers *a = scene_brief(s, t);

        if (answers_grow(a) || a->ended_rising)
                return value_number(a->has_slope, a->slope);
        return live_in_doubt(a, t) ? trend_slope(target_trend(t)) : value_number(false, 0);
}

struct value answered_onset(const struct scene *s, const struct world_target *t)
{
        const struct answers *a = scene_brief(s, t);

        return value_when(s, t, a->has_onset, a->onset_ns);
}
