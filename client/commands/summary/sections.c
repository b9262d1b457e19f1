/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - DESIGN: the order of the sections; counts of what the world does not keep. */
#include "client/commands/summary/summary.h"
#include "proto/base/array.h"

#define START_NS 10000000u /* a log whose oldest event is this early was joined from the start */

const struct summary_section summary_sections[] = {
        { NULL, identity_text, identity_json, NULL },
        { "memory", memory_text, memory_json, memory_known },
        { "collections", collections_text, collections_json, collections_known },
        { "time", time_text, time_json, time_known },
        { "growth", growth_text, growth_json, growth_known },
        { "heapProfile", profile_text, profile_json, profile_known },
        { "timeProfile", ticks_text, ticks_json, ticks_known },
        { "ticky", ticky_text, ticky_json, ticky_known },
        { "notes", notes_text, notes_json, notes_known },
        { "threads", threads_text, threads_json, threads_known },
        { "stream", stream_text, stream_json, stream_known },
};

const size_t summary_n_sections = ARRAY_SIZE(summary_sections);

static void count_note(struct summary *s, int what)
{
        s->notes[what > 0 && what < NOTE_SORTS ? what : 0]++;
}

void summary_count(struct summary *s, const Hw__Update *u)
{
        if (u->body_case == HW__UPDATE__BODY_NOTES) {
                for (size_t i = 0; i < u->notes->n_notes; i++)
                        count_note(s, u->notes->notes[i]->what);
        }
        if (u->body_case != HW__UPDATE__BODY_CENSUS)
                return;
        if (u->census->has_unfinished && u->census->unfinished)
                s->census_unfinished = true;
        else
                s->censuses++;
}

/* A daemon keeps the newest notes, and numbers all of them. */
struct summary summary_of_now(const struct world_target *t)
{
        struct summary s = { .t = t, .last = true, .now = true };

        for (uint64_t i = t->notes_first; i > 0 && i <= t->notes_last; i++) {
                const struct world_note *note = world_note(t, i);
                if (note)
                        count_note(&s, note->what);
        }
        if (t->census && t->census->has_unfinished && t->census->unfinished)
                s.census_unfinished = true;
        if (t->census)
                s.censuses = t->census->number - s.census_unfinished;
        return s;
}

struct elapsed summary_elapsed(const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;
        const Hw__Gc *gc = s->t->gc;
        struct elapsed e = { .known = false };

        if (!run || !run->has_first_time_ns || run->first_time_ns > s->t->event_time_ns)
                return e;
        e.known = true;
        e.span_ns = s->t->event_time_ns - run->first_time_ns;
        e.late = run->first_time_ns > START_NS && run->first_time_ns > e.span_ns / 100;
        for (size_t i = 0; gc && i < gc->n_generations; i++)
                e.gc_known |= gc->generations[i]->has_pause_total_ns;
        if (!e.gc_known || gc->pause_total_ns > e.span_ns) {
                e.gc_known = false;
                return e;
        }
        e.gc_ns = gc->pause_total_ns;
        e.mut_ns = e.span_ns - e.gc_ns;
        return e;
}
