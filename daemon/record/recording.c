/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: what belongs to every cut-out is handed over before what comes behind
 * it. Nothing is kept for a second try: a frame that the queue refuses is lost,
 * and the next one that it takes says how much is missing before it.
 */
#include "daemon/record/recording.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/record/assembler.h"
#include "daemon/record/handover.h"
#include "daemon/record/limits.h"
#include "daemon/record/recorder.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/recording/run_dir.h"

struct recording {
        struct recorder *recorder;
        char target[RUN_TARGET_MAX + 1];
        struct assembler assembler;
        struct shared_run *run; /* NULL: between runs */
        uint32_t ordinal;       /* of the next frame */
        uint32_t segment;
        uint64_t segment_bytes, segment_begin_ns;
        uint64_t batch_since_ns; /* Unix time of the first event that waits; 0: none does */
        uint64_t bytes, definition_bytes;
        uint64_t lost_bytes; /* refused by the queue since the last frame that it took */
        uint32_t lost_frames;
        uint64_t all_lost_bytes, all_lost_frames; /* and since the run began */
};

static bool hand_over(struct recording *r, enum job_kind kind, const struct frame_head *head, uint8_t *blocks)
{
        return recorder_enqueue(r->recorder, r->run, kind, r->segment, head, blocks);
}

static void lose(struct recording *r, uint64_t bytes)
{
        r->lost_bytes += bytes;
        r->lost_frames++;
        r->all_lost_bytes += bytes;
        r->all_lost_frames++;
}

static void send_definitions(struct recording *r, struct whole_blocks *which, uint32_t ordinal, uint64_t wall_ns)
{
        struct whole_blocks b = assembler_take(&r->assembler, which);
        struct frame_head head = {
                .raw = (uint32_t)b.n, .ordinal = ordinal, .begin_ns = b.begin_ns, .end_ns = b.end_ns, .wall_ns = wall_ns
        };

        if (b.n == 0)
                return;
        r->definition_bytes += b.n;
        if (r->definition_bytes > DEFINITIONS_BYTES) {
                lose(r, b.n);
                free(b.bytes);
        } else if (!hand_over(r, JOB_DEFINITIONS, &head, b.bytes)) {
                lose(r, b.n);
        }
}

/* A segment that is long enough is followed by another. */
static void turn_segment(struct recording *r, const struct frame_head *head)
{
        if (r->segment_bytes == 0)
                r->segment_begin_ns = head->begin_ns;
        r->segment_bytes += head->raw;
        if (r->segment_bytes < recorder_segment_bytes(r->recorder) &&
            sub_sat(head->end_ns, r->segment_begin_ns) < SEGMENT_AGE_NS)
                return;
        r->segment_bytes = 0;
        if (r->segment < SEGMENTS_MAX)
                r->segment++;
}

/* All that waits. What belongs to every cut-out goes first: it must not be missing in what comes behind it. */
static void send_batch(struct recording *r, uint64_t wall_ns)
{
        if (r->assembler.lost_bytes)
                lose(r, r->assembler.lost_bytes);
        r->assembler.lost_bytes = 0;
        send_definitions(r, &r->assembler.always, 0, wall_ns);
        send_definitions(r, &r->assembler.before, r->ordinal, wall_ns);
        struct whole_blocks b = assembler_take(&r->assembler, &r->assembler.stream);
        struct frame_head head = { .raw = (uint32_t)b.n,
                                   .ordinal = r->ordinal,
                                   .begin_ns = b.begin_ns,
                                   .end_ns = b.end_ns,
                                   .wall_ns = wall_ns,
                                   .lost_bytes = r->lost_bytes,
                                   .lost_frames = r->lost_frames };

        r->batch_since_ns = 0;
        if (b.n == 0)
                return;
        r->bytes += b.n;
        r->ordinal++;
        if (hand_over(r, JOB_BLOCKS, &head, b.bytes)) {
                r->lost_bytes = 0;
                r->lost_frames = 0;
        } else {
                lose(r, b.n);
        }
        turn_segment(r, &head);
}

static size_t waiting(const struct assembler *a)
{
        size_t most = a->stream.n;

        if (a->always.n > most)
                most = a->always.n;
        return a->before.n > most ? a->before.n : most;
}

/* At most so many that a frame can hold them with what waits already. */
static void take_some(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                      uint64_t wall_ns)
{
        if (n > 1 && events[n - 1].offset - events[0].offset > FRAME_RAW_MAX / 4) {
                take_some(r, log, events, n / 2, wall_ns);
                take_some(r, log, events + n / 2, n - n / 2, wall_ns);
                return;
        }
        assembler_events(&r->assembler, log, events, n);
        if (r->batch_since_ns == 0)
                r->batch_since_ns = wall_ns;
        if (waiting(&r->assembler) >= BATCH_BYTES)
                send_batch(r, wall_ns);
}

void recording_events(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                      uint64_t wall_ns)
{
        if (r->run && n > 0)
                take_some(r, log, events, n, wall_ns);
}

void recording_tick(struct recording *r, uint64_t wall_ns)
{
        if (r->run && r->batch_since_ns && sub_sat(wall_ns, r->batch_since_ns) >= BATCH_AGE_NS)
                send_batch(r, wall_ns);
}

void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns)
{
        size_t size = 0;
        uint8_t *header;

        recording_end(r, false, wall_ns);
        header = assembler_header(log, &size);
        r->run = header ? recorder_run_begin(r->recorder, r->target, wall_ns, header, size) : NULL;
        if (!r->run) {
                log_warning("target=%s is not recorded: out of memory", r->target);
                return;
        }
        r->ordinal = r->segment = 1;
        r->segment_bytes = r->batch_since_ns = r->bytes = r->definition_bytes = 0;
        r->lost_bytes = r->all_lost_bytes = r->all_lost_frames = 0;
        r->lost_frames = 0;
        assembler_begin(&r->assembler, log, recorder_keeps_arguments(r->recorder));
}

void recording_end(struct recording *r, bool marked, uint64_t wall_ns)
{
        if (!r->run)
                return;
        assembler_end(&r->assembler, marked);
        send_batch(r, wall_ns);
        assembler_done(&r->assembler);
        recorder_run_end(r->recorder, r->run);
        r->run = NULL;
}

uint64_t recording_seal(struct recording *r, uint64_t wall_ns)
{
        if (r->run)
                send_batch(r, wall_ns);
        return recorder_added(r->recorder);
}

void recording_state(struct recording *r, struct recording_state *ret)
{
        *ret = (struct recording_state){ .recording = r->run != NULL,
                                         .bytes = r->bytes,
                                         .lost_bytes = r->all_lost_bytes,
                                         .lost_frames = r->all_lost_frames };
        recorder_state(r->recorder, r->run, ret);
}

struct recording *recording_new(struct recorder *recorder, const char *target)
{
        struct recording *r = calloc(1, sizeof(*r));

        if (!r)
                return NULL;
        r->recorder = recorder;
        snprintf(r->target, sizeof(r->target), "%s", target);
        return r;
}

void recording_destroy(struct recording **rp)
{
        struct recording *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        recording_end(r, false, clock_wall_ns());
        free(r);
}
