/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different capabilities come in any order: whichever it is, the
 * final state is the same. Real logs of two capabilities are cut into blocks
 * and fed in many orders that keep only the order within each buffer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "heapwatch/eventlog.h"
#include "daemon/model/model.h"

static struct series_view views[2];

#define MAX_EVENTS 40000
#define MAX_BLOCKS 3000
#define BUFFERS    4 /* no capability, and three */

static struct hw_event events[MAX_EVENTS];
static size_t n_events;
static uint8_t *bytes;

struct block {
        size_t first, n;
};

static struct block blocks[BUFFERS][MAX_BLOCKS];
static size_t n_blocks[BUFFERS];

static void load(const char *path)
{
        static uint8_t payloads[8 << 20];
        size_t used = 0, n, size;
        FILE *file = fopen(path, "rb");

        assert_non_null(file);
        bytes = malloc(8 << 20);
        size = fread(bytes, 1, 8 << 20, file);
        fclose(file);
        struct hw_eventlog *log = hw_eventlog_new();
        hw_eventlog_input(log, bytes, size);
        n_events = 0;
        memset(n_blocks, 0, sizeof(n_blocks));
        while (hw_eventlog_read(log, &events[n_events], 1, &n) != HW_EVENTLOG_NEED_MORE || n > 0) {
                struct hw_event *e = &events[n_events];
                if (!n)
                        continue;
                assert_true(used + e->size <= sizeof(payloads) && n_events + 1 < MAX_EVENTS);
                memcpy(payloads + used, e->payload, e->size);
                e->payload = payloads + used;
                used += e->size;
                unsigned buffer = e->id == HW_BLOCK_MARKER ? (uint16_t)(hw_event_u16(e, 12) + 1) : 0;
                if (e->id == HW_BLOCK_MARKER) {
                        assert_true(buffer < BUFFERS && n_blocks[buffer] < MAX_BLOCKS);
                        blocks[buffer][n_blocks[buffer]++] = (struct block){ .first = n_events };
                }
                n_events++;
        }
        hw_eventlog_destroy(&log);
        free(bytes);
        /* a block goes on to the next marker */
        size_t at[BUFFERS] = { 0 };
        struct block *open = NULL;
        for (size_t i = 0; i < n_events; i++) {
                if (events[i].id == HW_BLOCK_MARKER) {
                        unsigned buffer = (uint16_t)(hw_event_u16(&events[i], 12) + 1);
                        open = &blocks[buffer][at[buffer]++];
                }
                if (open)
                        open->n++;
        }
}

static uint64_t state;

static uint64_t random_u64(void)
{
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return state >> 33;
}

/* order 0: as in the file; else at random, a buffer's own blocks in order. */
static struct model *tell(uint64_t order)
{
        struct model_sink none = { 0 };
        struct model *m = model_new(&none);
        size_t at[BUFFERS] = { 0 }, left = n_events;

        assert_non_null(m);
        model_begin_run(m, 1);
        state = order;
        if (!order)
                model_events(m, events, n_events);
        for (unsigned b = 0; order && left; b = (unsigned)(random_u64() % BUFFERS)) {
                for (uint64_t n = random_u64() % 5; n && at[b] < n_blocks[b]; n--) {
                        const struct block *block = &blocks[b][at[b]++];
                        model_events(m, &events[block->first], block->n);
                        left -= block->n;
                }
        }
        model_end_run(m, true);
        return m;
}

static void same_pauses(const struct generation *a, const struct generation *b)
{
        const struct sketch *cells = &a->pauses.cells;

        assert_true(a->count == b->count && a->parallel_count == b->parallel_count);
        assert_true(a->pause_total_ns == b->pause_total_ns && a->pause_max_ns == b->pause_max_ns);
        assert_true(a->pauses.count == b->pauses.count && a->pauses.max == b->pauses.max);
        assert_true(cells->n == b->pauses.cells.n && !cells->lost && !b->pauses.cells.lost);
        assert_memory_equal(cells->counts, b->pauses.cells.counts, cells->n * sizeof(*cells->counts));
}

static void same_gc(const struct gc *a, const struct gc *b)
{
        assert_int_equal(a->collections, b->collections);
        assert_int_equal(a->n_generations, b->n_generations);
        for (uint32_t i = 0; i < a->n_generations; i++)
                same_pauses(&a->generations[i], &b->generations[i]);
        assert_int_equal(a->copied_bytes, b->copied_bytes);
        assert_int_equal(a->max_slop_bytes, b->max_slop_bytes);
        assert_int_equal(a->slop_bytes, b->slop_bytes);
        assert_int_equal(a->fragmentation_bytes, b->fragmentation_bytes);
        assert_int_equal(a->pause_total_ns, b->pause_total_ns);
        assert_int_equal(a->sync_total_ns, b->sync_total_ns);
        assert_int_equal(a->parallel_copied_bytes, b->parallel_copied_bytes);
        assert_int_equal(a->unmatched, b->unmatched);
        assert_true(a->share - b->share < 1e-9 && b->share - a->share < 1e-9);
        assert_true(a->share_run - b->share_run < 1e-9 && b->share_run - a->share_run < 1e-9);
}

static void same_sched(const struct sched *a, const struct sched *b)
{
        assert_true(a->created == b->created && a->finished == b->finished);
        assert_true(a->migrations == b->migrations && a->wakeups == b->wakeups);
        assert_memory_equal(a->stops, b->stops, sizeof(a->stops));
        assert_int_equal(a->n_caps, b->n_caps);
        for (uint32_t i = 0; i < a->n_caps; i++) {
                assert_int_equal(a->caps[i].run_ns, b->caps[i].run_ns);
                assert_int_equal(a->caps[i].gc_ns, b->caps[i].gc_ns);
                assert_int_equal(a->caps[i].runs, b->caps[i].runs);
                assert_int_equal(a->caps[i].allocated_bytes, b->caps[i].allocated_bytes);
                assert_memory_equal(a->caps[i].sparks, b->caps[i].sparks, sizeof(a->caps[i].sparks));
        }
}

static void same_series(const struct series *a, const struct series *b)
{
        struct point p[400], q[400];

        assert_int_equal(a->late + b->late, 0);
        size_t n = series_history(a, (struct time_range){ 0, UINT64_MAX }, 0, p, 400),
               k = series_history(b, (struct time_range){ 0, UINT64_MAX }, 0, q, 400);
        assert_int_equal(n, k);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(p[i].time_ns, q[i].time_ns);
                assert_int_equal(p[i].cell.n, q[i].cell.n);
                assert_true(p[i].cell.min <= q[i].cell.min && p[i].cell.min >= q[i].cell.min);
                assert_true(p[i].cell.max <= q[i].cell.max && p[i].cell.max >= q[i].cell.max);
                assert_true(p[i].cell.last <= q[i].cell.last && p[i].cell.last >= q[i].cell.last);
        }
}

static void any_order(const char *path)
{
        load(path);
        struct model *first = tell(0);
        assert_true(model_gc(first)->collections > 0 && model_sched(first)->n_caps >= 2);
        for (uint64_t order = 1; order <= 40; order++) {
                struct model *m = tell(order);
                const struct heap *h = model_heap(first), *g = model_heap(m);

                same_gc(model_gc(first), model_gc(m));
                same_sched(model_sched(first), model_sched(m));
                assert_true(h->live_bytes == g->live_bytes && h->live_time_ns == g->live_time_ns);
                assert_true(h->max_live_bytes == g->max_live_bytes && h->live_samples == g->live_samples);
                assert_true(h->heap_size_bytes == g->heap_size_bytes &&
                            h->max_heap_size_bytes == g->max_heap_size_bytes);
                assert_true(h->blocks_size_bytes == g->blocks_size_bytes && h->megablocks_held == g->megablocks_held);
                assert_true(h->allocated_bytes == g->allocated_bytes);
                for (unsigned i = 0; i < CARRIED_FACTS; i++)
                        if (!(isnan(h->facts[i]) ? isnan(g->facts[i]) : h->facts[i] == g->facts[i]))
                                fail_msg("%s depends on the order", fact_rows[carried_facts[i]].name);
                assert_true(h->allocation_rate_bps - g->allocation_rate_bps < 1 &&
                            g->allocation_rate_bps - h->allocation_rate_bps < 1);
                assert_int_equal(model_time_ns(first), model_time_ns(m));
                assert_int_equal(model_time_anomalies(first) + model_time_anomalies(m), 0);
                assert_int_equal(model_census(first)->number, model_census(m)->number);
                assert_int_equal(model_census(first)->total_bytes, model_census(m)->total_bytes);
                assert_int_equal(bands_count(model_bands(first)), bands_count(model_bands(m)));
                for (unsigned id = 1; id < SERIES_COUNT; id++)
                        if (id != SERIES_ALLOCATED) /* a sum over the capabilities that have come so far */
                                same_series(model_series(first, id, &views[0]), model_series(m, id, &views[1]));
                model_destroy(&m);
        }
        model_destroy(&first);
}

TEST(test_any_order_of_blocks)
{
        any_order("tests/data/logs/parallel-ghc902/run.eventlog");
        any_order("tests/data/logs/parallel-full-ghc9103/run.eventlog");
        any_order("tests/data/logs/leaky-hc-ghc902/run.eventlog");
        any_order("tests/data/logs/steady-hT-thr-ghc9103/run.eventlog");
}
