/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a timer of its own, like that of a source, gives it turns. While the recording is read, the pipeline
 * publishes to nobody, does not record and keeps no previous runs; a publisher of the rebuild's own shows the target.
 * When that gives way to the pipeline's, whose topics count from 1, subscribers request a snapshot, as for a target
 * that was added again.
 *
 * Recordings are read by the thread that reads sources, in pieces, like the logs that are files.
 */
#include "daemon/watch/targets/rebuild.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/record/recorder.h"
#include "daemon/source/limits.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"

#define PIECE_BYTES (64u << 10)

static const char started_again[] = "the daemon was started again";

struct rebuild {
        struct pipeline *pipeline;
        struct event *turn;
        struct held_stream held;
        struct read_buffer *taking; /* has the held bytes that the pipeline is busy with; or NULL */
        enum source_state source_state;
        char *source_why; /* NULL: the source has not reported anything */
        struct run_exit exited;

        bool reads; /* the recording; then what was held */
        struct recorded_streams streams;
        uint8_t *piece;

        /* of the pipeline, set aside */
        struct recording *recording;
        void (*next_run)(void *ctx, struct pipeline *p);
        struct update_sink sink;
        struct publisher *publisher; /* of the rebuild */
        uint64_t since_wall_ns;
};

static const struct rebuild *reader; /* one at a time: each needs some megabytes */

/* ------------------------------------------------------------- the recording */

/* One stream is over; the next one continues its run or begins another. */
static void end_stream(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;
        const struct recorded_run *run = recorded_streams_next(&r->streams);

        p->last_bytes_wall_ns = run->end_wall_ns ? run->end_wall_ns : UNKNOWN_U64;
        if (pipeline_in_run(p) && (recorded_streams_more(&r->streams) || p->uri.kind != SOURCE_FIFO))
                pipeline_lose_run(p, started_again);
        if (p->same_run) { /* too short to show whose it is, it adds nothing */
                same_run_destroy(&p->same_run);
                p->same_run = same_run_new(p->model);
        }
}

/* Takes the next piece of the recording, or as much as the turn has time for. */
static void read_piece(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;
        bool gap;
        const size_t n = recorded_streams_read(&r->streams, r->piece, PIECE_BYTES, &gap);

        if (n == 0) {
                end_stream(r);
                return;
        }
        if (gap)
                pipeline_interrupt(p, "the recording has a gap here");
        (void)pipeline_decode(p, r->piece, n); /* what is left is the pipeline's: resume_pending */
}

/* A FIFO's run goes on inside the stream, whose next bytes are not those after the recording's last. */
static void join_fifo(struct pipeline *p)
{
        if (!pipeline_in_run(p)) {
                hw_eventlog_reset(p->decoder);
                return;
        }
        pipeline_miss(p);
        if (p->recording)
                recording_resume(p->recording, p->decoder, false, clock_wall_ns());
}

/* All of the recording has been read: from now on the pipeline is what it would have been without a restart. */
static void be_seen(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;

        rebuild_publish(r); /* so that every subscriber has seen it, and sees now that topics begin anew */
        r->reads = false;
        reader = NULL;
        p->recording = r->recording;
        p->next_run = r->next_run;
        r->recording = NULL;
        if (p->recording)
                recording_recall(p->recording, p->name, recorded_streams_newest(&r->streams)->begin_wall_ns,
                                 (struct recording_counts){ 0 });
        if (p->uri.kind == SOURCE_FIFO)
                join_fifo(p);
        p->last_bytes_mono_ns = p->shut_mono_ns = clock_mono_ns();
        publisher_destroy(&r->publisher);
        publisher_redirect(p->publisher, &r->sink);
        if (p->runs > 0)
                log_warning("target=%s run=%" PRIu32 " rebuilt from its recording", p->name, p->runs);
        else
                log_warning("target=%s starts over, not from its recording: nothing of it can be read", p->name);
        pipeline_publish_state(p);
        pipeline_flush(p);
}

/* ---------------------------------------------------------- what was held */

/* What the turn has no time for stays in `taking`. */
static void decode_held(struct rebuild *r, struct held_part *part)
{
        struct read_piece piece = { .size = part->n - part->taken };
        uint8_t *room = read_buffer_room(&piece.buffer);

        if (piece.size > READ_PIECE_BYTES)
                piece.size = READ_PIECE_BYTES;
        memcpy(room, part->bytes + part->taken, piece.size);
        piece.data = room;
        part->taken += piece.size;
        if (part->taken == part->n)
                held_stream_drop(&r->held);
        if (pipeline_process_bytes(r->pipeline, &piece))
                return;
        if (read_buffer_keep(piece.buffer, piece.data + piece.size, READ_BUFFERS_ANY))
                r->taking = piece.buffer;
        else
                while (!pipeline_process_pending(r->pipeline))
                        ; /* out of memory for another buffer */
}

static void process_held(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;
        struct held_part *part = r->held.first;

        switch (part->kind) {
        case HELD_BYTES_OF_STREAM:
                decode_held(r, part);
                return;
        case HELD_CUT:
                pipeline_finish_stream(p, part->bytes);
                break;
        case HELD_MISSING:
                pipeline_miss(p);
                break;
        }
        held_stream_drop(&r->held);
}

/* The pipeline has caught up with its source. */
static void finish_rebuild(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;
        const struct run_exit exited = r->exited;
        const enum source_state state = r->source_state;
        char *why = r->source_why;

        if (r->held.missed > 0)
                log_warning("target=%s missed_bytes=%" PRIu64 " came while it was rebuilt, more than can be held",
                            p->name, r->held.missed);
        if (r->held.full)
                pipeline_miss(p);
        r->source_why = NULL;
        rebuild_destroy(&p->rebuild);
        if (why)
                pipeline_source_state(p, state, why);
        free(why);
        if (exited.known)
                pipeline_exited(p, &exited);
}

/* -------------------------------------------------------------------- turns */

/* Goes on with what an earlier turn has left. False: this turn is over, too. */
static bool resume_pending(struct rebuild *r)
{
        struct pipeline *p = r->pipeline;

        if (r->reads)
                return !pipeline_is_busy(p) || pipeline_resume(p);
        if (!r->taking)
                return true;
        if (!pipeline_process_pending(p))
                return false;
        read_buffer_release(r->taking);
        r->taking = NULL;
        return true;
}

/* True: all is done. */
static bool run_turn(struct rebuild *r)
{
        const uint64_t until_ns = clock_mono_ns() + READ_TURN_NS;

        while (resume_pending(r) && clock_mono_ns() < until_ns) {
                if (r->reads && recorded_streams_more(&r->streams))
                        read_piece(r);
                else if (r->reads)
                        be_seen(r);
                else if (r->held.first)
                        process_held(r);
                else
                        return true;
        }
        return false;
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
        static const struct timeval at_once = { 0, 0 }, later = { .tv_usec = 20000 };
        struct rebuild *r = ctx;
        const bool waits = reader && reader != r && r->reads;

        (void)fd;
        (void)what;
        if (!waits && r->reads)
                reader = r;
        (void)event_add(r->turn, waits ? &later : &at_once); /* its timer slot exists since it was first armed */
        if (waits)
                return;
        watchdog_begin(WATCHDOG_SOURCE);
        watchdog_of(r->pipeline->name);
        if (run_turn(r))
                finish_rebuild(r);
        watchdog_end();
}

/* ------------------------------------------------------------------ meanwhile */

void rebuild_bytes(struct rebuild *r, const struct read_piece *piece)
{
        held_stream_bytes(&r->held, piece->data, piece->size);
}

void rebuild_cut(struct rebuild *r, const char *why)
{
        held_stream_cut(&r->held, why);
}

void rebuild_source_state(struct rebuild *r, enum source_state state, const char *why)
{
        free(r->source_why);
        r->source_why = strdup(why);
        r->source_state = state;
}

void rebuild_exited(struct rebuild *r, const struct run_exit *how)
{
        r->exited = *how;
}

bool rebuild_reads(const struct rebuild *r)
{
        return r && r->reads;
}

struct publisher *rebuild_publisher(struct rebuild *r)
{
        return r->publisher;
}

struct target_facts rebuild_facts(struct rebuild *r)
{
        static const char detail[] =
                "its state is being rebuilt from its recording; what its program writes meanwhile is kept and follows";

        return (struct target_facts){
                .state = HW__TARGET__STATE__STATE_CONNECTED,
                .uri = r->pipeline->uri.text,
                .detail = detail,
                .state_since_wall_ns = r->since_wall_ns,
                .labels = r->pipeline->labels,
                .show_arguments = r->pipeline->show_arguments,
        };
}

void rebuild_publish(struct rebuild *r)
{
        const struct target_facts facts = rebuild_facts(r);

        publisher_state(r->publisher, &facts, NULL, clock_wall_ns());
}

struct recording *rebuild_recording(struct rebuild *r)
{
        return r->recording;
}

/* -------------------------------------------------------------------- whole */

static int send_to_nobody(void *ctx, const Hw__Update *update)
{
        (void)ctx;
        (void)update;
        return 0;
}

static bool prepare_rebuild(struct rebuild *r, const struct pipeline_options *options, struct error *error)
{
        static const struct timeval at_once = { 0, 0 };

        if (!recorded_streams_find(&r->streams, recorder_directory(options->recorder), r->pipeline->name,
                                   REBUILD_RECORDED_BYTES, error))
                return false;
        r->piece = malloc(PIECE_BYTES);
        r->publisher = publisher_new(r->pipeline->name, options->epoch, &options->sink);
        r->turn = evtimer_new(options->base, on_turn, r);
        return (r->piece && r->publisher && r->turn && event_add(r->turn, &at_once) == 0) ||
               error_set(error, "out of memory");
}

bool rebuild_begin(struct pipeline *p, const struct pipeline_options *options, struct error *error)
{
        static const struct update_sink nobody = { .send = send_to_nobody };
        struct rebuild *r;

        if (p->uri.kind == SOURCE_FILE)
                return error_set(error, "its file is read again instead");
        if (!options->recorder)
                return error_set(error, "there is none");
        if (!(r = calloc(1, sizeof(*r))))
                return error_set(error, "out of memory");
        r->pipeline = p;
        r->reads = true;
        r->sink = options->sink;
        r->since_wall_ns = clock_wall_ns();
        if (!prepare_rebuild(r, options, error)) {
                rebuild_destroy(&r);
                return false;
        }
        r->recording = p->recording;
        r->next_run = p->next_run;
        p->recording = NULL; /* what is recorded is not recorded once more */
        p->next_run = NULL;  /* only the newest run is of interest */
        publisher_redirect(p->publisher, &nobody);
        p->rebuild = r;
        return true;
}

void rebuild_destroy(struct rebuild **rp)
{
        struct rebuild *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        if (reader == r)
                reader = NULL;
        free_event(&r->turn);
        if (r->taking)
                read_buffer_release(r->taking);
        recording_destroy(&r->recording);
        publisher_destroy(&r->publisher);
        recorded_streams_done(&r->streams);
        held_stream_done(&r->held);
        free(r->source_why);
        free(r->piece);
        free(r);
}
