/* SPDX-License-Identifier: BSD-3-Clause */
/* trends.c - where memory grows and until when; `heapwatch trend` has the rest. */
#include "client/commands/summary/summary.h"

#include "client/answers/answers.h"

static const Hw__Trends *state(const struct summary *s)
{
        return s->t->trend_state;
}

/* A log without any judged sample says nothing about growth. */
bool growth_known(const struct summary *s)
{
        const Hw__Growth *g = state(s) ? state(s)->growth : NULL;

        return g && (g->has_live || g->has_heap || g->has_rss);
}

static void print_line(FILE *to, const char *label, const char *text)
{
        if (text)
                (void)fprintf(to, "  %-8s %s\n", label, SAFE_TEXT(2048, text));
}

void growth_text(FILE *to, const struct summary *s)
{
        struct answers a;

        (void)fputc('\n', to);
        answers_brief(&a, s->t, s->now); /* a rise has no verdict yet, and what all faces say of it */
        print_line(to, "Growth",
                   answers_grow(&a) && answers_rises(&a) ? a.answer[QUESTION_WRONG].text : state(s)->growth->sentence);
        print_line(to, "Limit", state(s)->time_to_limit ? state(s)->time_to_limit->sentence : NULL);
        print_line(to, "Scale", state(s)->scale ? state(s)->scale->sentence : NULL);
}

void growth_json(struct json_out *j, const struct summary *s)
{
        const Hw__Growth *g = state(s)->growth;
        const Hw__Trend *live = s->t->trends[HW__SERIES__SERIES_LIVE];

        json_known_text(j, "where", g->has_where ? hw_enum_word(&hw__growth__where__descriptor, (int)g->where) : NULL);
        json_known_text(j, "sentence", g->sentence);
        json_known_text(j, "live", g->has_live ? hw_enum_word(&hw__verdict__descriptor, (int)g->live) : NULL);
        json_known_text(j, "heap", g->has_heap ? hw_enum_word(&hw__verdict__descriptor, (int)g->heap) : NULL);
        json_known_double(j, "liveSlope", g->has_live_slope, g->live_slope);
        json_known_double(j, "heapSlope", g->has_heap_slope, g->heap_slope);
        if (live)
                json_known_u64(j, "onsetNs", live->has_onset_ns, live->onset_ns);
        if (state(s)->scale) {
                json_known_u64(j, "resolutionNs", state(s)->scale->has_resolution_ns, state(s)->scale->resolution_ns);
                json_known_u64(j, "leakAfterNs", state(s)->scale->has_leak_after_ns, state(s)->scale->leak_after_ns);
        }
}
