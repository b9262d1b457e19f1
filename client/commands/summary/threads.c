/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - what the program said, what its threads and sparks did, how busy its capabilities were. */
#include <inttypes.h>

#include "client/commands/summary/summary.h"

/* ---------------------------------------------------------------- notes */

static const struct {
        const char *key, *one, *many;
} sorts[NOTE_SORTS] = {
        [HW__NOTE__WHAT__WHAT_UNKNOWN] = { "others", "other", "others" },
        [HW__NOTE__WHAT__WHAT_MESSAGE] = { "messages", "message", "messages" },
        [HW__NOTE__WHAT__WHAT_MARKER] = { "markers", "marker", "markers" },
        [HW__NOTE__WHAT__WHAT_THREAD_LABEL] = { "threadLabels", "thread label", "thread labels" },
        [HW__NOTE__WHAT__WHAT_BINARY] = { "binaryMessages", "binary message", "binary messages" },
        [HW__NOTE__WHAT__WHAT_LOG] = { "logMessages", "line of the runtime's log", "lines of the runtime's log" },
};

bool notes_known(const struct summary *s)
{
        for (size_t i = 0; i < NOTE_SORTS; i++)
                if (s->notes[i])
                        return true;
        return false;
}

void notes_text(FILE *to, const struct summary *s)
{
        uint64_t older = s->now ? s->t->notes_first - 1 : 0; /* no longer kept */
        const char *between = "\n  Notes: ";

        for (size_t i = 0; i < NOTE_SORTS; i++) {
                if (!s->notes[i])
                        continue;
                (void)fprintf(to, "%s%s %s", between, COUNT_TEXT(s->notes[i]),
                              s->notes[i] == 1 ? sorts[i].one : sorts[i].many);
                between = ", ";
        }
        if (older)
                (void)fprintf(to, ", and %s older", COUNT_TEXT(older));
        (void)fputc('\n', to);
}

void notes_json(struct json_out *j, const struct summary *s)
{
        for (size_t i = 0; i < NOTE_SORTS; i++)
                json_known_u64(j, sorts[i].key, s->notes[i] > 0, s->notes[i]);
        json_known_u64(j, "older", s->now && s->t->notes_first > 1, s->t->notes_first - 1);
}

/* -------------------------------------------------------------- threads */

/* Logs with the scheduler's events switched off still have capabilities, and may have sparks. */
bool threads_known(const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;

        return sched && (sched->has_threads_created || sched->sparks);
}

static void print_capabilities(FILE *to, const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;
        struct elapsed e = summary_elapsed(s);

        for (size_t i = 0; i < sched->n_capabilities; i++) {
                const Hw__Capability *c = sched->capabilities[i];
                (void)fprintf(to, "  Capability %" PRIu32 ": running threads %s", c->number,
                              c->has_run_ns ? DURATION_TEXT(c->run_ns) : "–");
                if (c->has_run_ns && e.known && e.span_ns > 0)
                        (void)fprintf(to, " (%s)", SHARE_TEXT((double)c->run_ns / (double)e.span_ns));
                (void)fprintf(to, ", in GC %s\n", c->has_gc_ns ? DURATION_TEXT(c->gc_ns) : "–");
        }
}

static void print_sparks(FILE *to, const Hw__Sparks *p)
{
        char n[6][HW_NUMBER_MAX];

        (void)fprintf(to, "  SPARKS: %s (%s converted, %s overflowed, %s dud, %s GC'd, %s fizzled)\n",
                      hw_count_text(n[0], HW_NUMBER_MAX, p->created + p->dud + p->overflowed),
                      hw_count_text(n[1], HW_NUMBER_MAX, p->converted),
                      hw_count_text(n[2], HW_NUMBER_MAX, p->overflowed), hw_count_text(n[3], HW_NUMBER_MAX, p->dud),
                      hw_count_text(n[4], HW_NUMBER_MAX, p->collected), hw_count_text(n[5], HW_NUMBER_MAX, p->fizzled));
}

void threads_text(FILE *to, const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;

        (void)fputc('\n', to);
        if (sched->has_threads_created)
                (void)fprintf(to, "  Threads: %s created, %s finished, %s migrations, %s wakeups\n",
                              COUNT_TEXT(sched->threads_created), COUNT_TEXT(sched->threads_finished),
                              COUNT_TEXT(sched->migrations), COUNT_TEXT(sched->wakeups));
        if (sched->sparks)
                print_sparks(to, sched->sparks);
        print_capabilities(to, s);
}

void threads_json(struct json_out *j, const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;

        facts_print(j, "created", s->t, FACT_THREADS_CREATED);
        facts_print(j, "finished", s->t, FACT_THREADS_FINISHED);
        facts_print(j, "migrations", s->t, FACT_MIGRATIONS);
        facts_print(j, "wakeups", s->t, FACT_WAKEUPS);
        if (sched->sparks) {
                json_member_open(j, "sparks", '{');
                facts_print(j, "created", s->t, FACT_SPARKS_CREATED);
                facts_print(j, "converted", s->t, FACT_SPARKS_CONVERTED);
                facts_print(j, "overflowed", s->t, FACT_SPARKS_OVERFLOWED);
                facts_print(j, "dud", s->t, FACT_SPARKS_DUD);
                facts_print(j, "collected", s->t, FACT_SPARKS_COLLECTED);
                facts_print(j, "fizzled", s->t, FACT_SPARKS_FIZZLED);
                facts_print(j, "remaining", s->t, FACT_SPARKS_REMAINING);
                json_close(j, '}');
        }
        json_member_open(j, "capabilities", '[');
        for (size_t i = 0; i < sched->n_capabilities; i++) {
                json_open(j, '{');
                json_known_u64(j, "number", true, sched->capabilities[i]->number);
                json_known_u64(j, "runNs", sched->capabilities[i]->has_run_ns, sched->capabilities[i]->run_ns);
                json_known_u64(j, "gcNs", sched->capabilities[i]->has_gc_ns, sched->capabilities[i]->gc_ns);
                json_close(j, '}');
        }
        json_close(j, ']');
}
