/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_internal.h - what the files of a pipeline share: its struct, and what each of them does for the others.
 * pipeline.c creates it and has its accessors, pipeline_live.c drives its live source and process, pipeline_stream.c
 * turns bytes into runs and events, pipeline_process.c makes a run of a process that has none, pipeline_life.c does
 * what the table of a run's life (life.h) says, pipeline_state.c reports its state and sends what is new, in the
 * messages of pipeline_messages.c, pipeline_end.c finds out how runs end and what is kept then, pipeline_checkpoint.c
 * saves and restores it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/alerting/alerting.h"
#include "daemon/model/model.h"
#include "daemon/publish/limits.h"
#include "daemon/publish/publisher.h"
#include "daemon/record/recording.h"
#include "daemon/source/process_watch.h"
#include "daemon/source/source.h"
#include "daemon/watch/targets/life.h"
#include "proto/eventlog/archive/in_order.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/judge/trend/tracker.h"
#include "heapwatch/eventlog.h"
#include "proto/base/error.h"

/*
 * same_run.c: whether a stream that comes after a broken connection belongs to the lost run.
 *
 * A client that connects to a running program gets a header, the program's identity and its definitions again: from
 * eventlog-socket with new times, from the agent with their first ones. Process and start time decide: the start is
 * computed from WALL_CLOCK_TIME and is the same each time, to within a microsecond. And event time must go on, that of
 * the definitions or else of what follows them: a recording that is replayed has the same process and start, but starts
 * over.
 *
 * Bytes are held back until that is decided, at most SAME_RUN_BYTES. If there are more definitions than that, process
 * and start alone decide.
 */

#define SAME_RUN_BYTES (256u * 1024)

struct same_run;

/*
 * After the run of `lost` has been lost. `only_new`: its source sends no event twice except definitions, as an agent.
 * NULL when its process or start is not known, or out of memory.
 */
struct same_run *same_run_new(const struct model *lost, bool only_new);
void same_run_destroy(struct same_run **s);

enum same_run_answer { SAME_RUN_UNKNOWN, SAME_RUN_YES, SAME_RUN_NO };

/* Examines the next bytes of the new stream, and holds them while undecided. Not to be called once decided. */
enum same_run_answer same_run_check(struct same_run *s, const uint8_t *data, size_t size);

/* Whether the answer was yes. */
bool same_run_continues(const struct same_run *s);

/* What came before the deciding bytes, or NULL. */
const uint8_t *same_run_held(const struct same_run *s, size_t *ret_size);

/* SAME_RUN_YES: event time between the last event of the lost stream and the first of the new one; UNKNOWN_U64: none
 * has come, as of a program that is idle. */
uint64_t same_run_gap_ns(const struct same_run *s);

/*
 * When a live target is published next.
 *
 * DESIGN: at most every PACE_INTERVAL_NS, so that a flood of small writes does
 * not become a flood of messages, and an event is still at the subscribers
 * within that time of its arrival. While catching up with days of a log every
 * flush has much to publish: publishing takes at most a fifth of the time, but
 * is never delayed by more than PACE_REST_MOST_NS. Times are of one steady
 * clock.
 */

#define PACE_INTERVAL_NS  10000000u   /* 10 ms */
#define PACE_REST         4u          /* after a flush, none for this many times its duration, ... */
#define PACE_REST_MOST_NS 1000000000u /* ... but not more than this */

struct publish_pace {
        uint64_t flushed_ns; /* the end of the last flush */
        uint64_t rest_ns;    /* from then until the next one */
};

void publish_pace_flushed(struct publish_pace *p, uint64_t began_ns, uint64_t ended_ns);

/* How long until the next flush is allowed; 0: now. */
uint64_t publish_pace_wait_ns(const struct publish_pace *p, uint64_t now_ns);

/*
 * The newest LIMIT_DAMAGES damages of a target's stream, and how many there were in all.
 */

struct damages {
        struct hw_eventlog_damage places[LIMIT_DAMAGES]; /* by age */
        size_t n;
        uint64_t all;
};

void damages_add(struct damages *d, const struct hw_eventlog_damage *place);

/*
 * A damage that was reported before its end was known has grown: `newest` is its current extent. Returns by how many
 * bytes.
 */
uint64_t damages_measure(struct damages *d, const struct hw_eventlog_damage *newest);

/* The newest damage, at its place in the file. */
struct hw_eventlog_damage pipeline_damage(const struct pipeline *p);

/* What is known of a target beside its stages: a checkpoint has it, and a run that is set aside takes it along. */
struct pipeline_state {
        enum life_state life;
        char detail[512];             /* of its state, in words */
        uint64_t state_since_wall_ns; /* of the state as subscribers see it */
        uint64_t last_bytes_wall_ns;
        uint32_t runs;
        bool kept; /* of a program that has ended; nothing is read any more */

        /* Of the current run. */
        bool joined_late;         /* in its middle */
        uint64_t gaps, gap_ns;    /* how often it was lost and resumed, event time missed */
        uint64_t longest_wait_ns; /* between two pieces of its stream */
        struct run_exit ended;
        bool file_taken;    /* from under its process, whose end it therefore does not show */
        struct run_why why; /* as far as it was asked */
        struct process_watch process;

        int64_t clock_offset_ns; /* live: Unix time less that of CLOCK_MONOTONIC, which events have; 0: not read */
        struct damages damages;
        struct source_position position;     /* of its file */
        struct hw_eventlog_stats left_stats; /* what its decoder had counted */

        /* Of a checkpoint alone. */
        bool has_decoder, has_alerting;
        struct publisher_run published;
        uint64_t recorded;                     /* recording_begin_ns */
        char recorded_as[TARGET_NAME_MAX + 1]; /* recording_target */
        struct recording_counts recorded_counts;
};

struct pipeline {
        char name[TARGET_NAME_MAX + 1];
        struct source_uri uri;
        bool live, show_arguments, one_run, unjudged;
        enum event_wish events;
        const bool *event_ids;   /* borrowed; NULL: all */
        bool headless;           /* a finished log's run is what another process wrote behind the end of the first */
        uint64_t origin_ns;      /* of a finished log: event times begin with it, and are delivered without it */
        struct update_wish wish; /* of a finished log */
        struct pipeline_state state;

        struct source *source;          /* NULL for finished logs */
        struct hw_eventlog *decoder;    /* NULL: a run set aside (run_before.c), no longer read */
        struct in_order_place place[2]; /* of a finished log: of what is read now, and was read before */
        struct model *model;
        struct tracker *tracker;
        struct alerting *alerting;   /* NULL: no rules */
        struct recording *recording; /* NULL: its stream is not recorded */
        struct publisher *publisher;
        struct event_stream *event_stream; /* finished logs whose events are wanted; else NULL */
        struct event *flush_timer;

        bool open;                                       /* live: whether the source is open */
        bool outside;                                    /* ... its agent is gone, and its process is read instead */
        uint64_t unread_mono_ns;                         /* ... since when nothing is read of it; 0: it is */
        uint64_t shut_mono_ns;                           /* when it was last open */
        bool no_run_comes;                               /* its `heapwatch run` is gone, and no run was seen */
        const char *removed;                             /* it is being removed: why, as its last message says */
        bool marked;                                     /* the log of the current run has ended with its marker */
        uint64_t recorded_limit_bytes;                   /* of its run, as its recording has it */
        struct run_end recorded_end;                     /* as the log tells; unknown: it is judged here */
        void (*next_run)(void *ctx, struct pipeline *p); /* NULL: not wanted */
        void *next_run_ctx;

        struct same_run *same_run; /* the run was lost: does the new stream continue it? NULL: not in question */
        uint64_t missed_ns;        /* event time missed in the gap that ends now */

        struct read_piece piece; /* live: the newest, some of which may be left for the next turn */

        /* Live: what a turn had no time for, of the current piece. */
        struct {
                bool open;
                struct hw_event *events;        /* of the batch; owned */
                size_t from, n;                 /* the first not taken, and the end */
                enum hw_eventlog_status status; /* what comes after them */
                const uint8_t *data;            /* bytes after those that same_run held back; or NULL */
                size_t size;
        } left;

        uint64_t resolution_ns;                        /* as requested; 0: that of all targets */
        char *labels;                                  /* owned; NULL: none */
        char process_only_reason[PROCESS_REASON_SIZE]; /* "": none given */
        bool no_record;
        uint64_t checkpoint_mono_ns;  /* when the newest checkpoint was made; 0: never */
        uint64_t checkpoint_state_ns; /* state_since_wall_ns then */

        struct publish_pace pace;          /* live */
        uint64_t next_tick_ns;             /* finished logs */
        bool ends_damaged;                 /* the stream is over, and its last bytes could not be decoded */
        bool finished;                     /* finished logs: all bytes have been passed in */
        bool cut;                          /* ... but its end is not among them */
        char unread[PIPELINE_UNREAD_SIZE]; /* why they are not all of the log; "": they are */
        uint64_t last_bytes_mono_ns;
        uint64_t stopped_mono_ns; /* when its process was first seen stopped; 0: it was not */
        uint64_t gone_mono_ns;    /* ... when it was seen gone, after the newest bytes; 0: it was not */
        bool stopped_before;      /* ... it may have been for longer */
};

/* ------------------------------------------------------------ pipeline.c */

/* Connects the model to publisher, tracker and alerting, in this order; again after one of them has changed. */
void pipeline_wire(struct pipeline *p);

/* ------------------------------------------------------ pipeline_state.c */

/* Live: the clock; finished logs: the newest event's Unix time. UNKNOWN_U64. */
uint64_t pipeline_now_ns(const struct pipeline *p);

/* How far the stream was behind the clock when bytes last came; UNKNOWN_U64. */
uint64_t pipeline_lag_ns(const struct pipeline *p);

/* Updates the newest damage, which may have grown since it was reported. */
void pipeline_measure_damage(struct pipeline *p);

void pipeline_publish_state(struct pipeline *p);
void pipeline_record_end(struct pipeline *p); /* what its recording has of its end, or of its limits until then */
void pipeline_set_state(struct pipeline *p, enum life_state state, const char *detail);

/* Sends everything new. */
void pipeline_flush(struct pipeline *p);

/* --------------------------------------------------- pipeline_messages.c */

struct target_messages pipeline_messages(struct pipeline *p);

/* ------------------------------------------------------- pipeline_life.c */

/*
 * Something happened to the run: does what life.h says. `why`, a sentence, is the new detail; NULL: the old one stays.
 * False: the turn is over before all of it was done; call again in the next one.
 */
bool pipeline_happens(struct pipeline *p, enum life_event event, const char *why);

/* The same outside of the stream, where nothing may wait for another turn. */
void pipeline_happens_now(struct pipeline *p, enum life_event event, const char *why);

/* Gives rules of the run, live, the time of one turn. In a hurry nothing is left for the next one. */
void pipeline_begin_turn(struct pipeline *p, bool hurry);

static inline bool pipeline_in_run(const struct pipeline *p)
{
        return life_in_run(p->state.life);
}

/* ----------------------------------------------------- pipeline_stream.c */

/*
 * Takes bytes; live, only for one turn. False: some are left, `data` has to stay valid, and pipeline_resume must be
 * called until it returns true. Meanwhile nothing else may change the run.
 */
bool pipeline_decode(struct pipeline *p, const uint8_t *data, size_t size);
bool pipeline_resume(struct pipeline *p);

/* Finished logs: takes events that were decoded elsewhere, and then the status after them. */
void pipeline_process_events(struct pipeline *p, enum hw_eventlog_status status, const struct hw_event *events,
                             size_t n);

static inline bool pipeline_is_busy(const struct pipeline *p)
{
        return p->left.open;
}

/* The stream broke: the run is lost until another stream continues it. */
void pipeline_lose_run(struct pipeline *p, const char *why);

/* The stream's next bytes are not those after the last ones: the gap is counted at its next event. */
void pipeline_miss(struct pipeline *p);

/* The stream is over: closes the run and resets the decoder for another stream. */
void pipeline_finish_stream(struct pipeline *p, const char *why);

/* ---------------------------------------------------- pipeline_process.c */

/* For a source that is a process alone: it was found, or found again after a restart of the daemon; and it is gone. */
void pipeline_process_found(void *pipeline, const struct process_identity *process);
void pipeline_process_ended(struct pipeline *p, const char *why);

/* After each sample of it, at that event time. */
void pipeline_process_sampled(struct pipeline *p, uint64_t time_ns);

static inline bool pipeline_is_process(const struct pipeline *p)
{
        return p->uri.kind == SOURCE_PROCESS;
}

/* What is read of it is its process, in one way or another: there is no log. */
static inline bool pipeline_has_no_log(const struct pipeline *p)
{
        return source_uri_is_process(&p->uri) || p->outside;
}

/* -------------------------------------------------------- pipeline_end.c */

/*
 * Finds the process of a live run, if it is of this machine: at once when its log names it, since it may end before the
 * first heartbeat, and at the end of the stream.
 */
void pipeline_sample_process(struct pipeline *p);

/*
 * How a run whose stream is over has ended, as far as that is known, and a sentence about it. `marked`: its log has an
 * end marker; `why`: why the stream is over, else NULL.
 */
enum life_event pipeline_judge_end(struct pipeline *p, bool marked, const char *why, char *detail, size_t size);

/* Once a second, for a lost run: whether its process is gone by now, or it has been lost for too long. */
void pipeline_check_lost(struct pipeline *p, uint64_t wall_ns);

/* ------------------------------------------------------- pipeline_live.c */

/* 0, -EINVAL or -ENOMEM with the error's text. */
int pipeline_start_source(struct pipeline *p, struct event_base *base, struct error *error);

/* What its source calls. Bytes as they came, and more turns for them if it returns false; see source_sink. */
bool pipeline_process_bytes(void *pipeline, const struct read_piece *piece);
bool pipeline_process_pending(void *pipeline);

void pipeline_source_state(void *pipeline, enum source_state state, const char *why);

/*
 * A clock that was set, or a machine that slept, parts the wall clock from that of events: wall times and event times
 * are anchored anew, and ages stay what they were. Both clocks are read within a moment, or in the next turn.
 */
void pipeline_check_clock(struct pipeline *p);

/* Once a second. */
void pipeline_poll_process(struct pipeline *p, uint64_t wall_ns);
