/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - what the program said, what its threads and sparks did, how busy its capabilities were. */
#include <inttypes.h>

#include "client/summary/print.h"
#include "client/summary/summary.h"

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
        char text[HW_NUMBER_MAX];
        uint64_t older = s->now ? s->t->notes_first - 1 : 0; /* no longer kept */
        const char *between = "\n  Notes: ";

        for (size_t i = 0; i < NOTE_SORTS; i++) {
                if (!s->notes[i])
                        continue;
                (void)fprintf(to, "%s%s %s", between, hw_count_text(text, sizeof(text), s->notes[i]),
                              s->notes[i] == 1 ? sorts[i].one : sorts[i].many);
                between = ", ";
        }
        if (older)
                (void)fprintf(to, ", and %s older", hw_count_text(text, sizeof(text), older));
        (void)fputc('\n', to);
}

void notes_json(struct json_out *j, const struct summary *s)
{
        for (size_t i = 0; i < NOTE_SORTS; i++)
                json_known_u64(j, sorts[i].key, s->notes[i] > 0, s->notes[i]);
        json_known_u64(j, "older", s->now && s->t->notes_first > 1, s->t->notes_first - 1);
}

/* -------------------------------------------------------------- threads */

/* Logs with the scheduler's events switched off still have capabilities. */
bool threads_known(const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;

        return sched && (sched->threads_created || sched->n_stops || sched->sparks);
}

static void print_capabilities(FILE *to, const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;
        struct elapsed e = summary_elapsed(s);
        char run[HW_NUMBER_MAX], share[HW_NUMBER_MAX], gc[HW_NUMBER_MAX];

        for (size_t i = 0; i < sched->n_capabilities; i++) {
                const Hw__Capability *c = sched->capabilities[i];
                (void)fprintf(to, "  Capability %" PRIu32 ": running threads %s", c->number,
                              hw_duration_text(run, sizeof(run), (double)c->run_ns));
                if (e.known && e.span_ns > 0)
                        (void)fprintf(to, " (%s)",
                                      hw_share_text(share, sizeof(share), (double)c->run_ns / (double)e.span_ns));
                (void)fprintf(to, ", in GC %s\n", hw_duration_text(gc, sizeof(gc), (double)c->gc_ns));
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
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX], c[HW_NUMBER_MAX], d[HW_NUMBER_MAX];

        (void)fprintf(to, "\n  Threads: %s created, %s finished, %s migrations, %s wakeups\n",
                      hw_count_text(a, sizeof(a), sched->threads_created),
                      hw_count_text(b, sizeof(b), sched->threads_finished),
                      hw_count_text(c, sizeof(c), sched->migrations), hw_count_text(d, sizeof(d), sched->wakeups));
        if (sched->sparks)
                print_sparks(to, sched->sparks);
        print_capabilities(to, s);
}

static void json_sparks(struct json_out *j, const Hw__Sparks *p)
{
        json_member_open(j, "sparks", '{');
        json_known_u64(j, "created", p->has_created, p->created);
        json_known_u64(j, "converted", p->has_converted, p->converted);
        json_known_u64(j, "overflowed", p->has_overflowed, p->overflowed);
        json_known_u64(j, "dud", p->has_dud, p->dud);
        json_known_u64(j, "collected", p->has_collected, p->collected);
        json_known_u64(j, "fizzled", p->has_fizzled, p->fizzled);
        json_known_u64(j, "remaining", p->has_remaining, p->remaining);
        json_close(j, '}');
}

void threads_json(struct json_out *j, const struct summary *s)
{
        const Hw__Sched *sched = s->t->sched;

        json_known_u64(j, "created", sched->has_threads_created, sched->threads_created);
        json_known_u64(j, "finished", sched->has_threads_finished, sched->threads_finished);
        json_known_u64(j, "migrations", sched->has_migrations, sched->migrations);
        json_known_u64(j, "wakeups", sched->has_wakeups, sched->wakeups);
        if (sched->sparks)
                json_sparks(j, sched->sparks);
        json_member_open(j, "capabilities", '[');
        for (size_t i = 0; i < sched->n_capabilities; i++) {
                json_open(j, '{');
                json_known_u64(j, "number", true, sched->capabilities[i]->number);
                json_known_u64(j, "runNs", true, sched->capabilities[i]->run_ns);
                json_known_u64(j, "gcNs", true, sched->capabilities[i]->gc_ns);
                json_close(j, '}');
        }
        json_close(j, ']');
}
