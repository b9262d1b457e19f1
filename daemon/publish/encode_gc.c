/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: collections by generation with their pauses as a histogram: the filled cells, so that a client can merge
 * targets and compute any quantile, and two ready-made quantiles. Without a measured pause all of these are absent: a
 * pause of 0 would be wrong.
 */
#include "daemon/publish/encode.h"

static bool put_buckets(struct encoder *e, Hw__Generation *out, const struct histogram *h)
{
        const struct sketch *cells = &h->cells;

        out->bucket = encoder_calloc(e, cells->n, sizeof(*out->bucket));
        out->bucket_count = encoder_calloc(e, cells->n, sizeof(*out->bucket_count));
        if (!out->bucket || !out->bucket_count)
                return false;
        for (unsigned i = 0; i < cells->n; i++) {
                out->bucket[out->n_bucket++] = cells->counts[i].cell;
                out->bucket_count[out->n_bucket_count++] = cells->counts[i].count;
        }
        return true;
}

static Hw__Generation *encode_generation(struct encoder *e, uint32_t number, const struct generation *g)
{
        Hw__Generation *out = encoder_message(e, &hw__generation__descriptor);

        if (!out)
                return NULL;
        PUT(out, generation, number);
        PUT(out, count, g->count);
        PUT_U64(out, parallel_count, g->parallel_count);
        if (g->pauses.count == 0)
                return out;
        PUT(out, pause_total_ns, g->pause_total_ns);
        PUT(out, pause_max_ns, g->pause_max_ns);
        if (!histogram_is_known(&g->pauses))
                return out;
        PUT(out, pause_p50_ns, histogram_quantile(&g->pauses, 0.50));
        PUT(out, pause_p99_ns, histogram_quantile(&g->pauses, 0.99));
        return put_buckets(e, out, &g->pauses) ? out : NULL;
}

static bool put_generations(struct encoder *e, Hw__Gc *out, const struct gc *gc)
{
        out->generations = encoder_calloc(e, gc->n_generations, sizeof(*out->generations));
        if (!out->generations)
                return false;
        for (uint32_t i = 0; i < gc->n_generations; i++) {
                Hw__Generation *g = encode_generation(e, i, &gc->generations[i]);
                if (!g)
                        return false;
                out->generations[out->n_generations++] = g;
        }
        return true;
}

static bool put_segments(struct encoder *e, Hw__Nonmoving *out, const struct nonmoving *nonmoving)
{
        Hw__NonmovingSegments *rows = encoder_calloc(e, nonmoving->n_census, sizeof(*rows));

        out->census = encoder_calloc(e, nonmoving->n_census, sizeof(*out->census));
        if (!rows || !out->census)
                return false;
        for (uint32_t i = 0; i < nonmoving->n_census; i++) {
                const struct nonmoving_segments *from = &nonmoving->census[i];
                hw__nonmoving_segments__init(&rows[i]);
                PUT(&rows[i], block_bytes, from->block_bytes);
                PUT(&rows[i], active, from->active);
                PUT(&rows[i], filled, from->filled);
                PUT(&rows[i], live_blocks, from->live_blocks);
                out->census[out->n_census++] = &rows[i];
        }
        return true;
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
        return put_segments(e, out, nonmoving) ? out : NULL;
}

static bool put_last(struct encoder *e, Hw__Gc *out, const struct gc *gc)
{
        Hw__Collection *rows = encoder_calloc(e, gc->n_last, sizeof(*rows));

        out->last = encoder_calloc(e, gc->n_last, sizeof(*out->last));
        if (!rows || !out->last)
                return false;
        for (uint32_t i = 0; i < gc->n_last; i++) {
                hw__collection__init(&rows[i]);
                PUT(&rows[i], end_time_ns, gc->last[i].end_time_ns);
                PUT(&rows[i], pause_ns, gc->last[i].pause_ns);
                PUT(&rows[i], generation, gc->last[i].generation);
                PUT(&rows[i], major, gc->last[i].major);
                out->last[out->n_last++] = &rows[i];
        }
        return true;
}

Hw__Gc *encode_gc(struct encoder *e, const struct gc *gc)
{
        Hw__Gc *out = encoder_message(e, &hw__gc__descriptor);

        if (!out)
                return NULL;
        if (!put_generations(e, out, gc) || !put_last(e, out, gc))
                return NULL;
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

Hw__Collection *encode_collection(struct encoder *e, const struct collection *c)
{
        Hw__Collection *out = encoder_message(e, &hw__collection__descriptor);

        if (!out)
                return NULL;
        PUT(out, end_time_ns, c->end_time_ns);
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
        return out;
}
