/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - bytes and time, as `+RTS -s` prints them (rts/Stats.c). Not in the
 * log, so not here: CPU times, memory lost to fragmentation at the peak.
 */
#include <inttypes.h>

#include "client/summary/print.h"
#include "client/summary/summary.h"
#include "proto/wire/json.h"
#include "proto/wire/resident_parts.h"

bool memory_known(const struct summary *s)
{
        const Hw__Heap *h = s->t->heap;

        return (h && (h->has_allocated_bytes || h->has_max_live_bytes || h->has_max_heap_size_bytes)) ||
               collections_known(s);
}

/* In a log there is nothing of the process. */
static void put_resident(FILE *to, const Hw__Resident *r)
{
        char words[64];
        uint64_t bytes = 0;

        (void)fputc('\n', to);
        print_bytes_row(to, r->has_rss_bytes, r->rss_bytes, "resident memory (RSS), of which");
        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                (void)snprintf(words, sizeof(words), "  %s", resident_words[i].name);
                if (resident_part_bytes(r, i, &bytes))
                        print_bytes_row(to, true, bytes, words);
        }
        print_bytes_row(to, r->has_unknown_bytes, r->unknown_bytes, "  not known separately");
}

void memory_text(FILE *to, const struct summary *s)
{
        const Hw__Heap *h = s->t->heap;
        const Hw__Gc *gc = s->t->gc;
        char words[64], count[HW_NUMBER_MAX];

        (void)fputc('\n', to);
        if (h)
                print_bytes_row(to, h->has_allocated_bytes, h->allocated_bytes, "allocated in the heap");
        if (collections_known(s))
                print_bytes_row(to, gc->has_copied_bytes, gc->copied_bytes, "copied during GC");
        if (h) {
                (void)snprintf(words, sizeof(words), "maximum residency (%s sample%s)",
                               hw_count_text(count, sizeof(count), h->live_samples), plural(h->live_samples));
                print_bytes_row(to, h->has_max_live_bytes, h->max_live_bytes, words);
        }
        if (gc)
                print_bytes_row(to, gc->has_max_slop_bytes, gc->max_slop_bytes, "maximum slop");
        if (h)
                print_bytes_row(to, h->has_max_heap_size_bytes, h->max_heap_size_bytes, "total memory in use");
        if (h && h->resident)
                put_resident(to, h->resident);
}

void memory_json(struct json_out *j, const struct summary *s)
{
        const Hw__Heap *h = s->t->heap;
        const Hw__Gc *gc = s->t->gc;

        if (h) {
                json_known_u64(j, "allocatedBytes", h->has_allocated_bytes, h->allocated_bytes);
                json_known_u64(j, "maxResidencyBytes", h->has_max_live_bytes, h->max_live_bytes);
                json_known_u64(j, "residencySamples", h->has_max_live_bytes, h->live_samples);
                json_known_u64(j, "totalMemoryBytes", h->has_max_heap_size_bytes, h->max_heap_size_bytes);
                json_key(j, "resident");
                if (h->resident)
                        json_message(j, &h->resident->base, true);
                else
                        json_none(j);
        }
        if (collections_known(s))
                json_known_u64(j, "copiedBytes", gc->has_copied_bytes, gc->copied_bytes);
        if (gc)
                json_known_u64(j, "maxSlopBytes", gc->has_max_slop_bytes, gc->max_slop_bytes);
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
        return e->gc_known && !e->late && e->mut_ns > 0 && s->t->heap && s->t->heap->has_allocated_bytes;
}

static double rate(const struct summary *s, const struct elapsed *e)
{
        return (double)s->t->heap->allocated_bytes / ((double)e->mut_ns / 1e9);
}

static void print_seconds(FILE *to, const char *name, uint64_t ns)
{
        uint64_t ms = (ns + 500000) / 1000000;

        (void)fprintf(to, "  %-6s time %10" PRIu64 ".%03us elapsed\n", name, ms / 1000, (unsigned)(ms % 1000));
}

void time_text(FILE *to, const struct summary *s)
{
        struct elapsed e = summary_elapsed(s);
        char exact[HW_NUMBER_MAX], human[HW_NUMBER_MAX];

        (void)fputc('\n', to);
        if (e.gc_known) {
                print_seconds(to, "MUT", e.mut_ns);
                print_seconds(to, "GC", e.gc_ns);
        }
        print_seconds(to, "Total", e.span_ns);
        if (rate_known(s, &e))
                (void)fprintf(to, "\n  Alloc rate    %s bytes per MUT second elapsed (%s)\n",
                              hw_count_text(exact, sizeof(exact), (uint64_t)rate(s, &e)),
                              hw_rate_text(human, sizeof(human), rate(s, &e)));
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
        json_known_double(j, "allocationRateBps", rate_known(s, &e), rate_known(s, &e) ? rate(s, &e) : 0);
}
