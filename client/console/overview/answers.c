/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers.c - what one asks at three in the morning, in that order: is anything wrong, since when, what grows, where,
 * why it is kept, until when, what to do next; then reasons to trust the answers less.
 *
 * DESIGN: where there is little room, each answer gets one row that begins with what matters, and the first one is a
 * headline that is wrapped and never cut; with more room every answer is wrapped.
 */
#include "client/console/overview/sections.h"

#include "client/console/draw/widgets.h"
#include "client/console/scene/trends.h"

enum { LABEL = 7, HEADLINE_ROWS = 3, MOST = 4, PARTS = 1 + QUESTIONS + ANSWER_CAVEATS };

/* ---------------------------------------------------------------- headline */

int headline_rows(const struct scene *s, const struct world_target *t, int width)
{
        return draw_lines(NULL, (struct area){ 0 }, 0, 1, width - 2, HEADLINE_ROWS, TINT_PLAIN,
                          scene_answered(s, t)->headline);
}

void draw_headline(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        const struct answer_memo *m = scene_answered(s, t);
        enum answer_tone tone = m->a.answer[QUESTION_WRONG].tone;

        (void)draw_lines(c, area, 0, 1, area.width - 2, area.height,
                         tone == ANSWER_DIM ? TINT_STRONG : answer_tint(tone), m->headline);
}

/* ----------------------------------------------------------------- answers */

struct part {
        const char *label, *text;
        enum tint tint;
};

/* The headline already says what is wrong, unless something grows: then it has only the numbers. */
static size_t parts_of(struct part parts[PARTS], const struct answer_memo *m)
{
        size_t n = 0;

        if (m->alerts[0])
                parts[n++] = (struct part){ "alerts", m->alerts, answer_tint(m->a.answer[QUESTION_WRONG].tone) };
        for (int q = QUESTION_SINCE; q < QUESTIONS; q++)
                if (m->whole[q][0])
                        parts[n++] =
                                (struct part){ question_key((enum target_question)q), m->whole[q],
                                               q == QUESTION_NEXT ? TINT_STRONG : answer_tint(m->a.answer[q].tone) };
        for (size_t i = 0; i < m->a.n_caveats; i++)
                parts[n++] = (struct part){ "but", m->a.caveats[i], TINT_WARN };
        return n;
}

static int part_rows(const struct part *p, int width)
{
        return draw_lines(NULL, (struct area){ 0 }, 0, 0, width - LABEL - 3, MOST, TINT_PLAIN, p->text);
}

int answers_rows(const struct scene *s, const struct world_target *t, int width)
{
        struct part parts[PARTS];
        size_t n = parts_of(parts, scene_answered(s, t));
        int rows = 0;

        for (size_t i = 0; i < n; i++)
                rows += part_rows(&parts[i], width);
        return rows;
}

/* Caveats may be cut: they begin with what matters. */
int answers_whole_rows(const struct scene *s, const struct world_target *t, int width)
{
        const struct answer_memo *m = scene_answered(s, t);
        struct part parts[PARTS];
        size_t n = parts_of(parts, m);
        int rows = (int)m->a.n_caveats;

        for (size_t i = 0; i < n - m->a.n_caveats; i++)
                rows += part_rows(&parts[i], width);
        return rows;
}

/*
 * Each part gets a row; spare rows go first to what to do next, since that is acted on, then upwards, and last to
 * caveats.
 */
static void share_rows(int rows[], const struct part *parts, size_t n, size_t next, struct area area)
{
        int left = area.height;

        for (size_t i = 0; i < n; i++) {
                rows[i] = left > 0;
                left -= rows[i];
        }
        for (size_t i = 0; i < n && left > 0; i++) {
                size_t at = i <= next ? next - i : i;
                int more = part_rows(&parts[at], area.width) - rows[at];

                more = more < 0 ? 0 : more < left ? more : left;
                rows[at] += more;
                left -= more;
        }
}

void draw_answers(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        struct part parts[PARTS];
        int rows[PARTS] = { 0 }, row = 0;
        const struct answer_memo *m = scene_answered(s, t);
        size_t n = parts_of(parts, m);

        share_rows(rows, parts, n, n - m->a.n_caveats - 1, area);
        for (size_t i = 0; i < n; i++) {
                if (rows[i])
                        (void)canvas_put(c, area, row, 1, LABEL - 1, TINT_DIM, parts[i].label);
                row += draw_lines(c, area, row, 1 + LABEL, area.width - LABEL - 2, rows[i], parts[i].tint,
                                  parts[i].text);
        }
}
