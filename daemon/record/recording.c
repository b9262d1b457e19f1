/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: events that a decoder delivers from one piece are consecutive in it,
 * so a batch is one stretch, and only its beginning and end are handed over. An
 * event that is not in the piece, because it was split between two pieces, is
 * copied.
 *
 * Once the queue has refused something, everything is left out until the queue
 * is half empty and a block begins: so gaps are few and end where a block
 * begins. Definitions in a gap are copied, because later events need them.
 */
#include "daemon/record/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/record/jobs.h"
#include "daemon/record/limits.h"
#include "daemon/record/recorder.h"
#include "proto/eventlog/recording/run_dir.h"

struct recording {
        struct recorder *recorder;
        char target[RUN_TARGET_MAX + 1];
        struct shared_run *run;         /* NULL: between runs */
        struct shared_run *ended;       /* between runs: the previous one; NULL: it is of another daemon */
        uint64_t begin_ns;              /* by which the recording of that is named; 0: none */
        struct run_end end;             /* of the current run, to be written when that is over; UNKNOWN: nothing is */
        bool losing;                    /* the queue was full */
        bool paused;                    /* as counted by the recorder */
        uint64_t bytes;                 /* of eventlog, of the run */
        uint64_t lost_bytes;            /* refused by the queue since it last accepted something */
        uint32_t lost_pieces;           /* how often that began */
        uint64_t all_lost, all_times;   /* the same since the run began */
        struct recording_counts before; /* of the run, by an earlier process of the daemon */
        struct {
                bool info_tables, blocks, definitions; /* in the current batch; definitions: exact only while losing */
        } batch;
        struct {
                uint64_t info_tables, blocks, definitions;
        } counts; /* the decoder's counts at the last look */
        uint16_t definition_ids[HW_KNOWN_IDS];
        size_t n_definition_ids;
};

static const uint8_t *begin_of(const struct hw_eventlog *log, const struct hw_event *e)
{
        return e->payload - (hw_eventlog_declared_size(log, e->id) == (int32_t)HW_EVENT_VARIABLE ? 12 : 10);
}

static const uint8_t *end_of(const struct hw_event *e)
{
        return e->payload + e->size;
}

static bool in_piece(const struct read_piece *piece, const struct hw_event *e)
{
        return piece->buffer && (uintptr_t)e->payload >= (uintptr_t)piece->data &&
               (uintptr_t)end_of(e) <= (uintptr_t)piece->data + piece->size;
}

/* ------------------------------------------------------------ what is left out */

/* Leaves out events of one stretch, and counts them. */
static void lose_events(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                        uint64_t wall_ns)
{
        const uint64_t bytes = (uint64_t)(end_of(&events[n - 1]) - begin_of(log, &events[0]));

        for (size_t i = 0; r->batch.definitions && i < n; i++)
                if (assembler_is_definition(&events[i])) {
                        /* Definitions that are left out with their events are copied one by one: they are few. */
                        const struct hw_event *e = &events[i];
                        const uint8_t *begin = begin_of(log, e);
                        struct job job = { .run = r->run, .kind = JOB_DEFINITIONS, .wall_ns = wall_ns };
                        uint8_t *copy = malloc((size_t)(end_of(e) - begin));

                        if (copy) {
                                memcpy(copy, begin, (size_t)(end_of(e) - begin));
                                job.span = (struct event_span){ copy, (size_t)(end_of(e) - begin), e->offset, e->cap };
                                if (!jobs_add(recorder_jobs(r->recorder), &job))
                                        free(copy);
                        }
                }
        if (!r->losing) {
                recorder_full(r->recorder);
                r->lost_pieces++;
                r->all_times++;
        }
        r->losing = true;
        r->bytes += bytes;
        r->lost_bytes += bytes;
        r->all_lost += bytes;
}

/* How many of the events are still left out. */
static size_t count_unrecorded(struct recording *r, const struct hw_event *events, size_t n)
{
        size_t i = 0;

        if (r->counts.blocks > 0 && !r->batch.blocks)
                return n;
        if (!jobs_has_room(recorder_jobs(r->recorder)))
                return n;
        while (r->batch.blocks && i < n && events[i].id != HW_BLOCK_MARKER)
                i++;
        return i;
}

/* ------------------------------------------------------------ what is handed over */

/* Adds the job with the buffer that its events are in. */
static bool add_kept(struct recording *r, struct job *job, struct read_buffer *buffer)
{
        const uint8_t *end = job->span.bytes + job->span.size;
        struct jobs *jobs = recorder_jobs(r->recorder);

        job->buffer = buffer;
        if (!read_buffer_extend(buffer, end, QUEUE_BUFFERS))
                return false;
        if (jobs_continue(jobs, job))
                return true;
        if (!read_buffer_keep(buffer, end, QUEUE_BUFFERS))
                return false;
        if (jobs_add(jobs, job))
                return true;
        read_buffer_release(buffer);
        return false;
}

/* Adds the job with a copy of its events. */
static bool add_copy(struct recording *r, struct job *job)
{
        uint8_t *copy = malloc(job->span.size);

        if (!copy)
                return false;
        memcpy(copy, job->span.bytes, job->span.size);
        job->span.bytes = copy;
        if (jobs_add(recorder_jobs(r->recorder), job))
                return true;
        free(copy);
        return false;
}

/* Hands over consecutive events: all in the piece, or none. */
static void give_events(struct recording *r, const struct hw_eventlog *log, const struct read_piece *piece,
                        const struct hw_event *events, size_t n, uint64_t wall_ns)
{
        const uint8_t *begin = begin_of(log, &events[0]), *end = end_of(&events[n - 1]);
        const size_t size = (size_t)(end - begin);
        struct job job = { .run = r->run,
                           .kind = JOB_EVENTS,
                           .span = { begin, size, events[0].offset, events[0].cap },
                           .wall_ns = wall_ns,
                           .lost_bytes = r->lost_bytes,
                           .lost_pieces = r->lost_pieces,
                           .ends_span = events[n - 1].id == HW_IPE };

        if (in_piece(piece, &events[0]) ? !add_kept(r, &job, piece->buffer) : !add_copy(r, &job)) {
                lose_events(r, log, events, n, wall_ns);
                return;
        }
        r->bytes += size;
        r->lost_bytes = 0;
        r->lost_pieces = 0;
        r->losing = false;
}

/* How many of the events, the first one at least, are one stretch. */
static size_t stretch_of(const struct recording *r, const struct read_piece *piece, const struct hw_event *events,
                         size_t n)
{
        size_t i = 1;

        if (!in_piece(piece, &events[0]))
                return 1;
        if (!r->batch.info_tables && in_piece(piece, &events[n - 1]))
                return n;
        while (i < n && in_piece(piece, &events[i]) && events[i - 1].id != HW_IPE)
                i++;
        return i;
}

static uint64_t count_definitions(const struct recording *r, const struct hw_eventlog *log)
{
        uint64_t n = 0;

        for (size_t i = 0; i < r->n_definition_ids; i++)
                n += hw_eventlog_count(log, r->definition_ids[i]);
        return n;
}

static bool is_passed(uint64_t *count, uint64_t now)
{
        const bool more = *count != now;

        *count = now;
        return more;
}

void recording_events(struct recording *r, const struct hw_eventlog *log, const struct read_piece *piece,
                      const struct hw_event *events, size_t n, uint64_t wall_ns)
{
        if (!r->run || n == 0)
                return;
        /* Which kinds of events the batch has, from the decoder's counts: so events need not be examined one by one. */
        r->batch.info_tables = is_passed(&r->counts.info_tables, hw_eventlog_count(log, HW_IPE));
        r->batch.blocks = is_passed(&r->counts.blocks, hw_eventlog_stats(log)->blocks);
        r->batch.definitions = !r->losing || is_passed(&r->counts.definitions, count_definitions(r, log));
        for (size_t i = 0; i < n;) {
                size_t part = stretch_of(r, piece, events + i, n - i);
                size_t left_out = r->losing ? count_unrecorded(r, events + i, part) : 0;
                if (left_out > 0)
                        lose_events(r, log, events + i, left_out, wall_ns);
                if (left_out < part)
                        give_events(r, log, piece, events + i + left_out, part - left_out, wall_ns);
                i += part;
        }
}

/* ------------------------------------------------------------------- whole */

static void count_pause(struct recording *r, bool paused)
{
        recorder_count_pause(r->recorder, r, r->paused, paused);
        r->paused = paused;
}

void recording_tick(struct recording *r)
{
        char why[PAUSE_DETAIL_BYTES];

        if (r->run && r->losing)
                recorder_full(r->recorder);
        if (r->run)
                recorder_tick(r->recorder);
        count_pause(r, r->run && recorder_is_paused(r->recorder, why));
}

void recording_resume(struct recording *r, const struct hw_eventlog *log, bool same_stream, uint64_t wall_ns)
{
        recording_end(r, false);
        const uint64_t begin_ns = recording_begin_ns(r);
        const struct recording_counts before = r->before;
        recording_begin(r, log, begin_ns ? begin_ns : wall_ns);
        r->before = before;
        if (r->run && begin_ns) /* out of memory for it: the run gets another recording */
                (void)jobs_add(recorder_jobs(r->recorder),
                               &(struct job){ .run = r->run, .kind = JOB_GO_ON, .same_stream = same_stream });
}

uint64_t recording_begin_ns(const struct recording *r)
{
        struct shared_run *run = r->run ? r->run : r->ended;

        return run ? recorder_run_begin_ns(run) : r->begin_ns;
}

const char *recording_target(const struct recording *r)
{
        return r->target;
}

void recording_recall(struct recording *r, const char *target, uint64_t begin_ns, struct recording_counts counts)
{
        (void)snprintf(r->target, sizeof(r->target), "%s", target);
        r->begin_ns = begin_ns;
        r->before = counts;
}

void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns)
{
        recording_end(r, false);
        recorder_run_release(r->ended);
        r->ended = NULL;
        r->run = recorder_run_begin(r->recorder, r->target, log, wall_ns);
        if (!r->run)
                log_warning("target=%s is not recorded: out of memory", r->target);
        r->losing = false;
        memset(&r->counts, 0, sizeof(r->counts));
        r->before = (struct recording_counts){ 0 };
        r->bytes = r->lost_bytes = r->all_lost = r->all_times = 0;
        r->lost_pieces = 0;
}

static void send_outcome(struct recording *r, struct shared_run *run, const struct run_end *end)
{
        struct recorded_outcome *o = malloc(sizeof(*o));

        if (!o)
                return;
        *o = (struct recorded_outcome){ recorder_run_hold(run), r->begin_ns, *end, "" };
        memcpy(o->target, r->target, sizeof(o->target));
        if (!jobs_add(recorder_jobs(r->recorder),
                      &(struct job){ .kind = JOB_OUTCOME, .span = { (const uint8_t *)o, sizeof(*o), 0, 0 } })) {
                recorder_run_release(o->run);
                free(o);
        }
}

void recording_outcome(struct recording *r, const struct run_end *end)
{
        if (r->run && end->state != RUN_END_RUNNING)
                r->end = *end;
        else if (recording_begin_ns(r))
                send_outcome(r, r->run ? r->run : r->ended, end);
}

void recording_end(struct recording *r, bool marked)
{
        if (!r->run)
                return;
        recorder_run_end(r->recorder, r->run,
                         &(struct job){ .marked = marked, .lost_bytes = r->lost_bytes, .lost_pieces = r->lost_pieces });
        r->ended = r->run;
        r->run = NULL;
        if (r->end.state != RUN_END_UNKNOWN)
                send_outcome(r, r->ended, &r->end);
        r->end.state = RUN_END_UNKNOWN;
}

uint64_t recording_seal(struct recording *r)
{
        if (r->run)
                (void)jobs_add(recorder_jobs(r->recorder), &(struct job){ .run = r->run, .kind = JOB_SEAL });
        return jobs_added(recorder_jobs(r->recorder));
}

void recording_state(struct recording *r, struct recording_state *ret)
{
        *ret = (struct recording_state){
                .recording = r->run != NULL, .bytes = r->bytes, .lost_bytes = r->all_lost, .lost_frames = r->all_times
        };
        recorder_state(r->recorder, r->run ? r->run : r->ended, ret);
        ret->first_paused = recorder_first_paused(r->recorder, r, &ret->paused_runs);
        ret->bytes += r->before.bytes;
        ret->lost_bytes += r->before.lost_bytes;
        ret->lost_frames += r->before.lost_frames;
        if (ret->lost_bytes > ret->bytes) /* frames have more block markers than the stream had */
                ret->lost_bytes = ret->bytes;
}

struct recording *recording_new(struct recorder *recorder, const char *target)
{
        struct recording *r = calloc(1, sizeof(*r));

        if (!r)
                return NULL;
        r->recorder = recorder;
        for (uint16_t id = 0; id < HW_KNOWN_IDS; id++)
                if (assembler_may_define(id))
                        r->definition_ids[r->n_definition_ids++] = id;
        snprintf(r->target, sizeof(r->target), "%s", target);
        return r;
}

struct recording *recording_leave(const struct recording *r)
{
        struct recording *left = recording_new(r->recorder, r->target);

        if (!left)
                return NULL;
        left->begin_ns = r->begin_ns;
        left->ended = recorder_run_hold(r->ended);
        left->bytes = r->bytes;
        left->all_lost = r->all_lost;
        left->all_times = r->all_times;
        left->before = r->before;
        return left;
}

void recording_destroy(struct recording **rp)
{
        struct recording *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        recording_end(r, false);
        count_pause(r, false);
        recorder_run_release(r->ended);
        free(r);
}
