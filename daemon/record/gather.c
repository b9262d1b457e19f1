/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/record/gather.h"

#include "daemon/record/limits.h"
#include "proto/base/ckd.h"
#include "proto/eventlog/recording/limits.h"

bool gather_init(struct gather *g, const struct hw_eventlog *log, bool keep_arguments, uint64_t segment_bytes,
                 struct blocks_spare *spare)
{
        *g = (struct gather){ .ordinal = 1, .segment = 1, .segment_max_bytes = segment_bytes };
        const bool good = assembler_init(&g->assembler, log, keep_arguments);
        g->assembler.spare = spare;
        return good;
}

void gather_done(struct gather *g)
{
        assembler_done(&g->assembler);
}

static void note_wait(struct gather *g, uint64_t wall_ns, uint64_t mono_ns)
{
        g->wall_ns = wall_ns;
        if (g->since_ns == 0)
                g->since_ns = mono_ns;
}

/* A stream that is not the same defines everything again. */
bool gather_resume(struct gather *g, const struct recorded_end *end, bool same_stream)
{
        if (end->segment >= SEGMENTS_MAX || end->definition_bytes > DEFINITIONS_BYTES / (same_stream ? 1 : 2))
                return false;
        g->ordinal = end->ordinal + 1;
        g->segment = end->segment + 1;
        g->definition_bytes = end->definition_bytes;
        g->goes_on = same_stream && end->offset > 0;
        g->recorded_offset = end->offset;
        g->lost_pieces = !g->goes_on;
        return true;
}

/* The first events after those that are recorded. False: there are none in it. */
static bool join_span(struct gather *g, struct event_span *s)
{
        if (s->offset < g->recorded_offset) {
                /* Takes what is recorded already, to know in which block it ends. */
                struct event_span again = *s;

                if (s->offset + s->size > g->recorded_offset)
                        again.size = (size_t)(g->recorded_offset - s->offset);
                assembler_events(&g->assembler, &again);
                struct whole_blocks *all[] = { &g->assembler.always, &g->assembler.before, &g->assembler.stream };
                for (unsigned i = 0; i < 3; i++) {
                        struct whole_blocks b = assembler_detach(&g->assembler, all[i]);
                        blocks_free(&b, g->assembler.spare);
                }
                s->bytes += again.size;
                s->size -= again.size;
                s->offset += again.size;
                s->cap = g->assembler.cap;
        } else if (s->offset > g->recorded_offset) {
                g->lost_bytes += s->offset - g->recorded_offset;
                g->lost_pieces++;
        }
        g->goes_on = s->size == 0;
        return s->size > 0;
}

void gather_events(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns)
{
        struct event_span rest = *s;

        if (g->goes_on && !join_span(g, &rest))
                return;
        assembler_events(&g->assembler, &rest);
        note_wait(g, wall_ns, mono_ns);
}

void gather_definitions(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns)
{
        assembler_definitions(&g->assembler, s);
        note_wait(g, wall_ns, mono_ns);
}

void gather_gap(struct gather *g, uint64_t bytes, uint32_t pieces)
{
        assembler_gap(&g->assembler);
        g->lost_bytes += bytes;
        g->lost_pieces += pieces;
}

void gather_end(struct gather *g, bool marked)
{
        assembler_end(&g->assembler, marked, g->lost_pieces > 0);
}

size_t gather_waiting(const struct gather *g)
{
        return g->assembler.stream.n + g->assembler.always.n + g->assembler.before.n;
}

/* ------------------------------------------------------------------ frames */

static void give_definitions(struct gather *g, struct whole_blocks *which, uint32_t ordinal, gather_frame *each,
                             void *ctx)
{
        struct whole_blocks b = assembler_detach(&g->assembler, which);
        struct frame_head head = { .raw = (uint32_t)b.n,
                                   .ordinal = ordinal,
                                   .begin_ns = b.begin_ns,
                                   .end_ns = b.end_ns,
                                   .wall_ns = g->wall_ns };

        g->definition_bytes += b.n;
        if (b.n > 0 && g->definition_bytes > DEFINITIONS_BYTES) {
                g->lost_bytes += b.n;
                g->lost_pieces++;
        } else if (b.n > 0) {
                each(ctx, 0, &head, b.bytes);
        }
        blocks_free(&b, g->assembler.spare);
}

static void give_blocks(struct gather *g, gather_frame *each, void *ctx)
{
        struct whole_blocks b = assembler_detach(&g->assembler, &g->assembler.stream);
        const struct frame_head head = { .raw = (uint32_t)b.n,
                                         .ordinal = g->ordinal,
                                         .begin_ns = b.begin_ns,
                                         .end_ns = b.end_ns,
                                         .wall_ns = g->wall_ns,
                                         .lost_bytes = g->lost_bytes,
                                         .offset = g->assembler.offset,
                                         .lost_frames = g->lost_pieces };

        if (b.n == 0)
                return;
        g->ordinal++;
        g->lost_bytes = 0;
        g->lost_pieces = 0;
        each(ctx, g->segment, &head, b.bytes);
        blocks_free(&b, g->assembler.spare);
        /* Starts a new segment when the current one is long enough. */
        if (g->segment_bytes == 0)
                g->segment_begin_ns = head.begin_ns;
        g->segment_bytes += head.raw;
        if (g->segment_bytes < g->segment_max_bytes && sub_sat(head.end_ns, g->segment_begin_ns) < SEGMENT_AGE_NS)
                return;
        g->segment_bytes = 0;
        if (g->segment < SEGMENTS_MAX)
                g->segment++;
}

void gather_frames(struct gather *g, gather_frame *each, void *ctx)
{
        g->lost_bytes += g->assembler.lost_bytes;
        g->lost_pieces += g->assembler.lost_bytes > 0;
        g->assembler.lost_bytes = 0;
        give_definitions(g, &g->assembler.always, 0, each, ctx);
        give_definitions(g, &g->assembler.before, g->ordinal, each, ctx);
        give_blocks(g, each, ctx);
        g->since_ns = 0;
}
