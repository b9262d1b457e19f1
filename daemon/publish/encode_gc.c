/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: collections by generation with their pauses as a histogram: the filled cells, so that a client can merge
 * targets and compute any quantile, and two ready-made quantiles. Without a measured pause all of these are absent: a
 * pause of 0 would be wrong.
 */
#include "daemon/publish/encode.h"

static void put_generation(struct encoder *e, Hw__Generation *out, uint32_t number, const struct generation *g)
{
        PUT(out, generation, number);
        PUT(out, count, g->count);
        PUT_U64(out, parallel_count, g->parallel_count);
        if (g->pauses.count == 0)
                return;
        PUT(out, pause_total_ns, g->pause_total_ns);
        PUT(out, pause_max_ns, g->pause_max_ns);
        if (!histogram_is_known(&g->pauses))
                return;
        PUT(out, pause_p50_ns, histogram_quantile(&g->pauses, 0.50));
        PUT(out, pause_p99_ns, histogram_quantile(&g->pauses, 0.99));
        const struct sketch *cells = &g->pauses.cells;
        out->bucket = encoder_calloc(e, cells->n, sizeof(*out->bucket));
        out->bucket_count = encoder_calloc(e, cells->n, sizeof(*out->bucket_count));
        for (unsigned i = 0; !e->failed && i < cells->n; i++) {
                out->bucket[out->n_bucket++] = cells->counts[i].cell;
                out->bucket_count[out->n_bucket_count++] = cells->counts[i].count;
        }
}

static Hw__Nonmoving *encode_nonmoving(struct encoder *e, const struct nonmoving *nonmoving)
{
        Hw__Nonmoving *out = encoder_message(e, &hw__nonmoving__descriptor);

        if (!out)
                return NULL;
        PUT(out, cycles, nonmoving->cycles);
        PUT(out, mark_total_ns, nonmoving->mark_total_ns);
        PUT(out, sync_total_ns, nonmoving->sync_total_ns);
        PUT(out, sync_max_ns, nonmoving->sync_max_ns);
        PUT(out, sweep_total_ns, nonmoving->sweep_total_ns);
        PUT_U64(out, marked_objects, nonmoving->marked_objects);
        PUT_U64(out, pruned_segments, nonmoving->pruned_segments);
        PUT_U64(out, free_segments, nonmoving->free_segments);
        PUT_ROWS(e, out, census, &hw__nonmoving_segments__descriptor, nonmoving->n_census);
        for (size_t i = 0; i < out->n_census; i++) {
                const struct nonmoving_segments *from = &nonmoving->census[i];
                PUT(out->census[i], block_bytes, from->block_bytes);
                PUT(out->census[i], active, from->active);
                PUT(out->census[i], filled, from->filled);
                PUT(out->census[i], live_blocks, from->live_blocks);
        }
        return out;
}

Hw__Gc *encode_gc(struct encoder *e, const struct gc *gc)
{
        Hw__Gc *out = encoder_message(e, &hw__gc__descriptor);

        if (!out)
                return NULL;
        PUT_ROWS(e, out, generations, &hw__generation__descriptor, gc->n_generations);
        for (uint32_t i = 0; i < out->n_generations; i++)
                put_generation(e, out->generations[i], i, &gc->generations[i]);
        PUT_ROWS(e, out, last, &hw__collection__descriptor, gc->n_last);
        for (size_t i = 0; i < out->n_last; i++) {
                PUT(out->last[i], end_time_ns, gc->last[i].end_time_ns);
                if (gc->last[i].for_watching)
                        PUT(out->last[i], watch_pause_ns, gc->last[i].pause_ns);
                else
                        PUT(out->last[i], pause_ns, gc->last[i].pause_ns);
                PUT(out->last[i], generation, gc->last[i].generation);
                PUT(out->last[i], major, gc->last[i].major);
        }
        PUT_U64(out, copied_bytes, gc->copied_bytes);
        PUT_U64(out, max_slop_bytes, gc->max_slop_bytes);
        PUT_U64(out, slop_bytes, gc->slop_bytes);
        PUT_U64(out, fragmentation_bytes, gc->fragmentation_bytes);
        PUT_U64(out, pause_total_ns, gc->pause_total_ns);
        PUT_U64(out, sync_total_ns, gc->sync_total_ns);
        PUT_U64(out, census_pause_ns, gc->census_pause_ns);
        PUT_DOUBLE(out, gc_share, gc->share);
        PUT_DOUBLE(out, gc_share_run, gc->share_run);
        if (gc->parallel_copied_bytes)
                PUT(out, parallel_balance, (double)gc->parallel_balanced_bytes / (double)gc->parallel_copied_bytes);
        if (gc->counted)
                PUT(out, counted, true);
        else
                PUT(out, unmatched, gc->unmatched);
        if (gc->nonmoving.seen)
                out->nonmoving = encode_nonmoving(e, &gc->nonmoving);
        return out;
}

void put_collection(Hw__Collection *out, const struct collection *c)
{
        PUT(out, end_time_ns, c->end_time_ns);
        if (c->for_watching)
                PUT(out, watch_pause_ns, c->pause_ns);
        else
                PUT_U64(out, pause_ns, c->pause_ns);
        PUT(out, generation, c->generation);
        PUT(out, copied_bytes, c->copied_bytes);
        PUT_U64(out, slop_bytes, c->slop_bytes);
        PUT_U64(out, fragmentation_bytes, c->fragmentation_bytes);
        PUT(out, parallel_threads, c->parallel_threads);
        PUT(out, parallel_max_copied_bytes, c->parallel_max_copied_bytes);
        PUT_U64(out, parallel_balanced_copied_bytes, c->parallel_balanced_copied_bytes);
        PUT(out, capability, c->capability);
        PUT(out, major, c->major);
}
