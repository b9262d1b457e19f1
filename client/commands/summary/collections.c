/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collections.c - the table of generations as in `+RTS -s`, with quantiles;
 * parallel work; the nonmoving collector. A pause is the leading capability's,
 * census included; its average is over the collections whose start was seen.
 */
#include <inttypes.h>

#include "client/answers/census.h"
#include "client/commands/summary/summary.h"
#include "client/answers/answers.h"
#include "proto/base/array.h"

bool collections_known(const struct summary *s)
{
        return s->t->gc && s->t->gc->n_generations > 0;
}

/* Collections whose pause is known. */
static uint64_t measured_pauses(const Hw__Generation *g)
{
        uint64_t n = 0;

        for (size_t i = 0; i < g->n_bucket_count; i++)
                n += g->bucket_count[i];
        return n;
}

/* ----------------------------------------------------------------- text */

static void print_pause(FILE *to, bool known, double ns)
{
        (void)fprintf(to, " %10s", known ? DURATION_TEXT(ns) : "-");
}

static void print_generation(FILE *to, const Hw__Generation *g)
{
        uint64_t n = measured_pauses(g);

        (void)fprintf(to, "  Gen %2" PRIu32 " %9s colls, %7s par  ", g->generation, COUNT_TEXT(g->count),
                      g->has_parallel_count ? COUNT_TEXT(g->parallel_count) : "-");
        print_pause(to, n > 0, (double)g->pause_total_ns);
        print_pause(to, n > 0, n ? (double)g->pause_total_ns / (double)n : 0);
        print_pause(to, n > 0, (double)g->pause_p50_ns);
        print_pause(to, n > 0, (double)g->pause_p99_ns);
        print_pause(to, n > 0, (double)g->pause_max_ns);
        (void)fputc('\n', to);
}

/* A phase that took no time was not logged: a runtime with one capability has no sync. */
static void print_nonmoving(FILE *to, const Hw__Nonmoving *n)
{
        static const char *const what[] = { "syncs", "longest", "concurrent mark", "sweep" };
        const uint64_t ns[] = { n->sync_total_ns, n->sync_max_ns, n->mark_total_ns, n->sweep_total_ns };

        (void)fprintf(to, "\n  Nonmoving: %s cycle%s", COUNT_TEXT(n->cycles), plural(n->cycles));
        for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
                if (ns[i])
                        (void)fprintf(to, ", %s %s", what[i], DURATION_TEXT(ns[i]));
        (void)fputc('\n', to);
}

void collections_text(FILE *to, const struct summary *s)
{
        const Hw__Gc *gc = s->t->gc;
        char sync[SYNC_TEXT], watching[CENSUS_LINE];

        (void)fprintf(to, "\n%37s %10s %10s %10s %10s %10s\n", "", "elapsed", "avg pause", "median", "p99",
                      "max pause");
        for (size_t i = 0; i < gc->n_generations; i++)
                print_generation(to, gc->generations[i]);
        if (world_untimed(s->t))
                (void)fprintf(to, "  Collections are %s\n", world_untimed(s->t));
        if (gc->counted && gc->has_pause_total_ns)
                (void)fprintf(to, "  All of them took %s since the program began, by the runtime's own sum\n",
                              DURATION_TEXT(gc->pause_total_ns));
        if (census_pauses_text(watching, sizeof(watching), s->t)[0])
                (void)fprintf(to, "  All pauses %s, %s, which is not in the rows above\n",
                              DURATION_TEXT(gc->pause_total_ns), watching);
        if (gc->nonmoving)
                print_nonmoving(to, gc->nonmoving);
        if (gc->has_parallel_balance)
                (void)fprintf(to, "\n  Parallel GC work balance: %.2f%% (serial 0%%, perfect 100%%)\n",
                              gc->parallel_balance * 100);
        if (!gc->has_sync_total_ns || gc->sync_total_ns)
                (void)fprintf(to, "%s  Waiting for capabilities to stop: %s\n", gc->has_parallel_balance ? "" : "\n",
                              answers_sync_text(sync, sizeof(sync), s->t));
        if (gc->unmatched)
                (void)fprintf(to, "  Collections without a start or an end: %s\n", COUNT_TEXT(gc->unmatched));
}

/* ----------------------------------------------------------------- JSON */

static void json_generation(struct json_out *j, const Hw__Generation *g)
{
        uint64_t n = measured_pauses(g);

        json_open(j, '{');
        json_known_u64(j, "generation", true, g->generation);
        json_known_u64(j, "collections", true, g->count);
        json_known_u64(j, "parallel", g->has_parallel_count, g->parallel_count);
        json_known_u64(j, "pauseTotalNs", n > 0, g->pause_total_ns);
        json_known_u64(j, "pauseAverageNs", n > 0, n ? g->pause_total_ns / n : 0);
        json_known_u64(j, "pauseMedianNs", n > 0, g->pause_p50_ns);
        json_known_u64(j, "pauseP99Ns", n > 0, g->pause_p99_ns);
        json_known_u64(j, "pauseMaxNs", n > 0, g->pause_max_ns);
        json_close(j, '}');
}

static void json_nonmoving(struct json_out *j, const Hw__Nonmoving *n)
{
        json_member_open(j, "nonmoving", '{');
        json_known_u64(j, "cycles", n->has_cycles, n->cycles);
        json_known_u64(j, "syncTotalNs", n->sync_total_ns > 0, n->sync_total_ns);
        json_known_u64(j, "syncMaxNs", n->sync_max_ns > 0, n->sync_max_ns);
        json_known_u64(j, "markTotalNs", n->mark_total_ns > 0, n->mark_total_ns);
        json_known_u64(j, "sweepTotalNs", n->sweep_total_ns > 0, n->sweep_total_ns);
        json_close(j, '}');
}

void collections_json(struct json_out *j, const struct summary *s)
{
        const Hw__Gc *gc = s->t->gc;

        if (gc->counted) {
                json_member_bool(j, "counted", true);
                facts_print(j, "pauseTotalNs", s->t, FACT_GC_PAUSES);
        }
        json_member_open(j, "generations", '[');
        for (size_t i = 0; i < gc->n_generations; i++)
                json_generation(j, gc->generations[i]);
        json_close(j, ']');
        facts_print(j, "parallelBalance", s->t, FACT_GC_BALANCE);
        facts_print(j, "syncTotalNs", s->t, FACT_GC_SYNC);
        facts_print(j, "unmatched", s->t, FACT_GC_UNMATCHED);
        facts_print(j, "watchCensuses", s->t, FACT_WATCH_CENSUSES);
        facts_print(j, "watchPausesNs", s->t, FACT_WATCH_PAUSES);
        facts_print(j, "watchPauseMaxNs", s->t, FACT_WATCH_PAUSE_MAX);
        if (gc->nonmoving)
                json_nonmoving(j, gc->nonmoving);
}
