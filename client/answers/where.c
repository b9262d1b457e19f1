/* SPDX-License-Identifier: BSD-3-Clause */
/* where.c - since when, what grows, where, and until when. */
#include "client/answers/evidence.h"

#include <string.h>

/* ------------------------------------------------------------------- since */

static uint64_t apart(uint64_t a, uint64_t b)
{
        return a > b ? a - b : b - a;
}

static bool is_marker(const Hw__Note *note)
{
        return note && note->has_what && note->what == HW__NOTE__WHAT__WHAT_MARKER;
}

/* Markers outrank messages, then the nearer one is taken. The daemon sends those that are near, and no others. */
static const Hw__Note *nearest(const Hw__Trend *trend)
{
        const Hw__Note *before = trend->note_before, *after = trend->note_after;

        if (!before || !after)
                return before ? before : after;
        if (is_marker(before) != is_marker(after))
                return is_marker(before) ? before : after;
        return apart(after->time_ns, trend->onset_ns) < apart(before->time_ns, trend->onset_ns) ? after : before;
}

const Hw__Note *note_near(const struct evidence *e)
{
        const Hw__Note *note = e->grows && e->trend && e->trend->has_onset_ns ? nearest(e->trend) : NULL;

        return note && note->has_time_ns && note->text ? note : NULL;
}

static void say_note(struct target_answer *a, const struct evidence *e)
{
        const Hw__Note *note = note_near(e);

        if (!note) {
                say(a->after, e->t->notes_last ? "; no marker or message of the program is near" : "");
                return;
        }
        say(a->after, ", ");
        if (note->time_ns == e->trend->onset_ns)
                say(a->after, "just at");
        else
                say_duration(a->after, apart(note->time_ns, e->trend->onset_ns));
        say(a->after, "%s the %s “%.160s”",
            note->time_ns == e->trend->onset_ns  ? ""
            : note->time_ns < e->trend->onset_ns ? " after"
                                                 : " before",
            is_marker(note) ? "marker" : "message", note->text);
}

static void at(struct target_answer *a, const char *text, bool known, uint64_t time_ns)
{
        if (!known) {
                say(a->text, "–");
                return;
        }
        say(a->text, "%s", text);
        a->has_time = true;
        a->time_ns = time_ns;
}

void answer_since(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        if (e->grows) {
                at(a, "growth began at ", e->trend->has_onset_ns, e->trend->onset_ns);
                if (a->has_time)
                        say_note(a, e);
        } else if (e->ending >= ENDED_BADLY && e->ending <= LOST) {
                at(a, "the newest event is of ", t->event_time_ns > 0, t->event_time_ns);
        } else if (e->verdict == HW__VERDICT__VERDICT_STEADY) {
                at(a, "steady since ", e->trend && e->trend->has_since_ns, e->trend ? e->trend->since_ns : 0);
        } else {
                at(a, "watched since ", run && run->has_first_time_ns, run ? run->first_time_ns : 0);
        }
}

/* ------------------------------------------------------------- what grows */

static void say_others(struct target_answer *a, const struct evidence *e)
{
        const Hw__Growth *g = e->t->trend_state->growth;

        for (size_t i = 1; i < g->n_bands && i < 3; i++) {
                say(a->text, "%s%.80s", i == 1 ? "; then " : ", ", g->bands[i]->label ? g->bands[i]->label : "?");
                if (g->bands[i]->has_slope) {
                        say(a->text, " ");
                        say_rate(a->text, g->bands[i]->slope, false, 0, 0);
                }
        }
}

static void say_growing_band(struct target_answer *a, const struct evidence *e)
{
        size_t before;

        say(a->text, "%.200s", e->growing->label ? e->growing->label : "a band without a label");
        before = strlen(a->text);
        say(a->text, " (");
        if (say_band_place(a->text, e->band))
                say(a->text, ")");
        else
                a->text[before] = '\0';
        say(a->text, ": ");
        if (e->growing->has_bytes)
                say_bytes(a->text, e->growing->bytes);
        if (e->growing->has_slope) {
                say(a->text, ", %s", e->growing->slope >= 0 ? "+" : "");
                say_rate(a->text, e->growing->slope, false, 0, 0);
        }
        say_others(a, e);
}

void answer_grows(struct target_answer *a, const struct evidence *e)
{
        const struct world_target *t = e->t;
        bool profiled = t->census || t->n_bands;

        if (e->growing && e->where != HW__GROWTH__WHERE__WHERE_OFF_HEAP) {
                a->tone = e->growing->verdict == HW__VERDICT__VERDICT_LEAK ? ANSWER_BAD : ANSWER_WARN;
                say_growing_band(a, e);
        } else if (!profiled) {
                a->tone = e->grows ? ANSWER_WARN : ANSWER_DIM;
                say(a->text, e->where == HW__GROWTH__WHERE__WHERE_OFF_HEAP ? "Nothing on the Haskell heap"
                                                                           : "Not known: there is no heap profile");
        } else if (e->largest) {
                say(a->text, "%s; the largest is %.160s with ",
                    e->grows     ? "No band by itself"
                    : e->verdict ? "No band"
                                 : "Not known yet",
                    e->largest->def->label);
                say_bytes(a->text, e->largest->bytes);
        } else {
                say(a->text, "No census yet");
        }
}

/* ------------------------------------------------------------------- where */

static void say_sizes(struct target_answer *a, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;
        const Hw__Process *p = h ? h->process : NULL;
        const struct {
                const char *what;
                bool known;
                uint64_t bytes;
        } sizes[] = {
                { "live", h && h->has_live_bytes, h ? h->live_bytes : 0 },
                { "heap", h && h->has_heap_size_bytes, h ? h->heap_size_bytes : 0 },
                { "RSS", p && p->has_rss_bytes, p ? p->rss_bytes : 0 },
        };
        bool first = true;

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                if (!sizes[i].known)
                        continue;
                say(a->text, "%s%s ", first ? (a->text[0] ? ": " : "") : ", ", sizes[i].what);
                say_bytes(a->text, sizes[i].bytes);
                first = false;
        }
        if (first && !a->text[0])
                say(a->text, "–");
}

void answer_where(struct target_answer *a, const struct evidence *e)
{
        switch (e->where) {
        case HW__GROWTH__WHERE__WHERE_LIVE:
                say(a->text, "On the heap, in live data: the program holds it");
                break;
        case HW__GROWTH__WHERE__WHERE_RETENTION:
                say(a->text, "On the heap, beyond live data: the runtime holds it");
                break;
        case HW__GROWTH__WHERE__WHERE_OFF_HEAP:
                say(a->text, "Off the heap: C code, FFI, malloc");
                break;
        case HW__GROWTH__WHERE__WHERE_NOWHERE:
                say(a->text, "Nowhere");
                break;
        default:
                break;
        }
        a->tone = e->grows ? ANSWER_WARN : ANSWER_DIM;
        say_sizes(a, e->t);
}

/* ------------------------------------------------------------------- until */

#define SOON_NS (UINT64_C(20) * 60 * 1000000000) /* as the built-in rules memory-runs-out-now and -soon */
#define SOME_NS (UINT64_C(7200) * 1000000000)

static const char *limit_words(bool known, Hw__TimeToLimit__Source source)
{
        switch (known ? source : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN) {
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP:
                return "the limit of its control group";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP:
                return "the heap limit -M";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY:
                return "the machine's memory";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_GIVEN:
                return "the limit given with --limit";
        default:
                return "the limit";
        }
}

static void say_limit(struct target_answer *a, const struct evidence *e)
{
        const Hw__TimeToLimit *l = e->limit;
        const char *words = limit_words(l->has_source, l->source);
        uint64_t at_once = l->has_mid_ns ? l->mid_ns : l->low_ns;

        a->tone = at_once < SOON_NS ? ANSWER_BAD : at_once < SOME_NS ? ANSWER_WARN : ANSWER_DIM;
        if (e->over)
                say(a->text, "As it ended: ");
        if (!l->has_mid_ns && l->low_ns == 0) {
                say(a->text, "At any time, if it goes on: ");
        } else {
                say(a->text, e->over ? "in " : "In ");
                say_duration(a->text, at_once);
                if (!l->has_mid_ns)
                        say(a->text, " at the earliest, perhaps never");
                else if (!l->has_high_ns)
                        say(a->text, " or later");
                if (l->has_high_ns && l->has_mid_ns) {
                        say(a->text, " (");
                        say_duration(a->text, l->low_ns);
                        say(a->text, " to ");
                        say_duration(a->text, l->high_ns);
                        say(a->text, ")");
                }
                say(a->text, ": ");
        }
        say(a->text, "%s", words);
        if (l->has_limit_bytes) {
                say(a->text, " (");
                say_bytes(a->text, l->limit_bytes);
                say(a->text, ")");
        }
}

void answer_until(struct target_answer *a, const struct evidence *e)
{
        const Hw__Trends *s = e->t->trend_state;

        if (e->limit && e->limit->has_low_ns) {
                say_limit(a, e);
        } else if (s && s->has_limit_bytes) {
                say(a->text, e->grows ? "Not in sight at this rate: %s is " : "No end in sight: %s is ",
                    limit_words(s->has_limit_source, s->limit_source));
                say_bytes(a->text, s->limit_bytes);
        } else {
                say(a->text, "No limit is known");
        }
}
