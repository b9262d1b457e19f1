/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - bytes and time, as `+RTS -s` prints them (rts/Stats.c), in its widths: both can be compared side by side.
 * Not in the log, so not here: CPU times, memory lost to fragmentation at the peak.
 */
#include <inttypes.h>

#include "client/commands/summary/summary.h"
#include "proto/base/time.h"
#include "proto/wire/message.h"
#include "proto/wire/resident_parts.h"

static bool heap_known(const struct summary *s)
{
        return facts_is_known(s->t, FACT_ALLOCATED) || facts_is_known(s->t, FACT_LIVE_MAX) ||
               facts_is_known(s->t, FACT_HEAP_SIZE_MAX) || collections_known(s);
}

bool memory_known(const struct summary *s)
{
        return heap_known(s) || (s->t->heap && s->t->heap->resident);
}

/* "   1,249,903,104 bytes allocated in the heap              1.16 GiB"; nothing if unknown. */
static void print_bytes_row(FILE *to, bool known, uint64_t bytes, const char *words)
{
        if (known)
                (void)fprintf(to, "%18s bytes %-42s %10s\n", COUNT_TEXT(bytes), words, BYTES_TEXT(bytes));
}

static void print_fact_row(FILE *to, const struct world_target *t, enum fact id, const char *words)
{
        print_bytes_row(to, facts_is_known(t, id), facts_get_u64(t, id, 0), words);
}

/* In a log there is nothing of the process. */
static void put_resident(FILE *to, const struct world_target *t)
{
        const Hw__Resident *r = t->heap->resident;
        char words[64], age[WORLD_AGE_TEXT];
        uint64_t bytes = 0;

        (void)fputc('\n', to);
        print_bytes_row(to, r->has_rss_bytes, r->rss_bytes, "resident memory (RSS), of which");
        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                (void)snprintf(words, sizeof(words), "  %s%s", resident_part_name(i),
                               i == 0 ? world_parts_age(age, t) : "");
                if (resident_part_bytes(r, i, &bytes))
                        print_bytes_row(to, true, bytes, words);
        }
        print_bytes_row(to, r->has_unknown_bytes, r->unknown_bytes, "  not known separately");
}

void memory_text(FILE *to, const struct summary *s)
{
        if (heap_known(s)) {
                const uint64_t samples = facts_get_u64(s->t, FACT_LIVE_SAMPLES, 0);
                char words[64];
                (void)fputc('\n', to);
                (void)snprintf(words, sizeof(words), "maximum residency (%s sample%s)", COUNT_TEXT(samples),
                               plural(samples));
                print_fact_row(to, s->t, FACT_ALLOCATED, "allocated in the heap");
                if (collections_known(s))
                        print_fact_row(to, s->t, FACT_GC_COPIED, "copied during GC");
                print_fact_row(to, s->t, FACT_LIVE_MAX, words);
                print_fact_row(to, s->t, FACT_GC_SLOP_MAX, "maximum slop");
                print_fact_row(to, s->t, FACT_HEAP_SIZE_MAX, "total memory in use");
        }
        if (s->t->heap && s->t->heap->resident)
                put_resident(to, s->t);
}

void memory_json(struct json_out *j, const struct summary *s)
{
        const Hw__Heap *h = s->t->heap;

        if (h) {
                facts_print(j, "allocatedBytes", s->t, FACT_ALLOCATED);
                facts_print(j, "maxResidencyBytes", s->t, FACT_LIVE_MAX);
                if (facts_is_known(s->t, FACT_LIVE_MAX))
                        facts_print(j, "residencySamples", s->t, FACT_LIVE_SAMPLES);
                facts_print(j, "totalMemoryBytes", s->t, FACT_HEAP_SIZE_MAX);
                json_key(j, "resident");
                if (h->resident)
                        json_message(j, &h->resident->base, true);
                else
                        json_none(j);
        }
        if (collections_known(s))
                facts_print(j, "copiedBytes", s->t, FACT_GC_COPIED);
        facts_print(j, "maxSlopBytes", s->t, FACT_GC_SLOP_MAX);
}

/* ----------------------------------------------------------------- time */

bool time_known(const struct summary *s)
{
        struct elapsed e = summary_elapsed(s);

        return e.known && e.span_ns > 0;
}

static bool rate_known(const struct summary *s, const struct elapsed *e)
{
        /*
         * Allocation is counted since the program's start: for a log that was joined late, the time before
         * it is unknown.
         */
        return e->gc_known && !e->late && e->mut_ns > 0 && facts_is_known(s->t, FACT_ALLOCATED);
}

static double mutator_rate(const struct summary *s, const struct elapsed *e)
{
        return facts_get(s->t, FACT_ALLOCATED) / ((double)e->mut_ns / 1e9);
}

static void print_seconds(FILE *to, const char *name, uint64_t ns)
{
        uint64_t ms = (ns + 500000) / 1000000;

        (void)fprintf(to, "  %-6s time %10" PRIu64 ".%03us elapsed\n", name, ms / 1000, (unsigned)(ms % 1000));
}

void time_text(FILE *to, const struct summary *s)
{
        struct elapsed e = summary_elapsed(s);
        char human[HW_NUMBER_MAX];

        (void)fputc('\n', to);
        if (e.gc_known) {
                print_seconds(to, "MUT", e.mut_ns);
                print_seconds(to, "GC", e.gc_ns);
        }
        print_seconds(to, "Total", e.span_ns);
        if (rate_known(s, &e))
                (void)fprintf(to, "\n  Alloc rate    %s bytes per MUT second elapsed (%s)\n",
                              COUNT_TEXT((uint64_t)mutator_rate(s, &e)),
                              hw_rate_text(human, sizeof(human), mutator_rate(s, &e)));
        if (e.gc_known)
                (void)fprintf(to, "%s  Productivity  at most %s of total elapsed, for MUT includes INIT and EXIT\n",
                              rate_known(s, &e) ? "" : "\n",
                              hw_share_text(human, sizeof(human), (double)e.mut_ns / (double)e.span_ns));
}

void time_json(struct json_out *j, const struct summary *s)
{
        struct elapsed e = summary_elapsed(s);

        json_known_u64(j, "totalNs", true, e.span_ns);
        json_known_u64(j, "gcNs", e.gc_known, e.gc_ns);
        json_known_u64(j, "mutNs", e.gc_known, e.mut_ns);
        json_known_double(j, "productivity", e.gc_known, (double)e.mut_ns / (double)e.span_ns);
        json_known_double(j, "allocationRateBps", rate_known(s, &e), rate_known(s, &e) ? mutator_rate(s, &e) : 0);
}
