/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - the inside of struct model: one part per concept. Private to the
 * model; other stages read through the functions of model.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/model/bands_private.h"
#include "daemon/model/census.h"
#include "daemon/model/gc_private.h"
#include "daemon/model/heap_private.h"
#include "daemon/model/limits.h"
#include "daemon/model/model.h"
#include "daemon/model/run.h"
#include "heapwatch/eventlog.h"
#include "proto/base/arena.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/base/strings.h"

/* How notes are taken in. */

struct model;

struct landmark {
        struct note note; /* its text is the one below */
        uint64_t pattern; /* a hash of its kind and its text without digits */
        char text[LIMIT_LANDMARK_BYTES + 1];
};

struct notes {
        struct landmark *landmarks; /* LIMIT_LANDMARKS at most */
        uint32_t n_landmarks, landmarks_room;
        struct note *slots; /* LIMIT_NOTES, at (number - 1) % LIMIT_NOTES; NULL before the first note */
        uint32_t made;      /* slots that have been set up */
        uint64_t total;
        size_t text_bytes; /* held by all slots */
};

void notes_clear(struct notes *n);
void notes_done(struct notes *n);
size_t notes_held(const struct notes *n);

void note_message(struct model *m, const struct hw_event *e);
void note_marker(struct model *m, const struct hw_event *e);
void note_thread_label(struct model *m, const struct hw_event *e);
void note_binary(struct model *m, const struct hw_event *e);
/* Of heapwatch itself, at the newest event's time. */
void note_text(struct model *m, const char *text);
void note_log(struct model *m, const struct hw_event *e);

/* How heap profile samples are taken in. */

struct census_rows {
        struct census_row *rows;
        uint32_t room;
};

struct census_contents_rows {
        struct census_contents *rows;
        uint32_t room;
};

#define CENSUS_LIVES 64u

struct census_state {
        struct census done; /* newest finished; its rows are in buffers[!writing] */
        struct census open; /* not ended yet */
        bool is_open;
        bool tells_groups;     /* the census that comes next does */
        uint32_t row_threads;  /* of the row that comes next; 0: not said */
        uint64_t thread_bytes; /* of a thread in the band TSO; 0: not known */
        struct census_rows buffers[2], groups[2];
        struct census_contents_rows contents[2];
        unsigned writing;
        uint64_t count; /* begun in this run */
        bool ends_seen; /* HEAP_PROF_SAMPLE_END has been seen: this release writes it */
        bool followed;  /* a sample was closed by the start of the next */
        struct census_history history;
        uint64_t own_ns, own_bytes; /* the runtime's newest census, and its total; own_ns UINT64_MAX: none */
        struct census_live {
                uint64_t time_ns, bytes;
        } lives[CENSUS_LIVES]; /* the newest measurements, of which one was made in its collection */
        uint64_t n_lives;      /* ever */
};

void census_clear(struct census_state *c);
void census_done(struct census_state *c);

void census_begin(struct model *m, const struct hw_event *e);
void census_bio_begin(struct model *m, const struct hw_event *e);
void census_band_threads(struct model *m, const struct hw_event *e);
bool census_message(struct model *m, const struct hw_event *e); /* false: it tells nothing of a census */
void census_row_string(struct model *m, const struct hw_event *e);

/*
 * Drops rows from the first on, as long as they are the expected ones and their bands not wanted, or none is wanted.
 * Returns how many.
 */
size_t census_skip_rows(struct model *m, const struct hw_event *events, size_t n);

/* Whether new -hi bands are arriving: their info tables are spread over megabytes. */
bool census_grows(const struct model *m);

/* Prefetches, all at once, what the rows among these events (CENSUS_AHEAD at most) will need. */
#define CENSUS_AHEAD 32u
void census_prefetch(const struct model *m, const struct hw_event *events, size_t n);
void census_row_stack(struct model *m, const struct hw_event *e);
void census_end(struct model *m, const struct hw_event *e);

/* Live data was measured, at the end of a collection. */
void census_live(struct model *m, uint64_t time_ns, uint64_t bytes);

/* The heap profile restarts, or the run ended: an open sample is passed on. */
void census_close(struct model *m);

/* How the identity of a run is taken in. */

void run_clear(struct run *run, uint32_t ordinal);

void run_rts_identifier(struct model *m, const struct hw_event *e);
void run_program_args(struct model *m, const struct hw_event *e);
void run_pid(struct model *m, const struct hw_event *e);
void run_ppid(struct model *m, const struct hw_event *e);
void run_capset_delete(struct model *m, const struct hw_event *e);
void run_heap_info(struct model *m, const struct hw_event *e);
void run_heap_prof_begin(struct model *m, const struct hw_event *e);
void run_prof_begin(struct model *m, const struct hw_event *e);

/* How time-profile ticks and ticky counters are taken in. */

#define STACK_END 128u /* frames kept of each end of a sampled stack */

/* A sampled stack of which not all parts have come. */
struct stack_part {
        uint64_t thread;
        uint32_t capability;
        uint32_t n;                     /* frames so far, the outermost first */
        uint32_t frames[2 * STACK_END]; /* cost centres: the first STACK_END, then the newest in turns */
        bool lacks;                     /* a frame found no memory: the sample is left out */
};

/* A frame of a sampled stack, or what frames refer to. Its key is the first three members. */
struct stack_symbol {
        uint64_t id, place; /* place: of a frame that has one, else 0 */
        uint32_t kind;      /* enum stack_frame_kind, or of stack_samples.c */
        bool named;         /* all that the frame refers to is defined */
        bool renamed;       /* since its stacks were last marked as changed */
        uint32_t line, column;
        uint64_t file;    /* of a place: id of a string */
        const char *text; /* of a string; else NULL */
};

struct stack_samples {
        struct pool symbols; /* struct stack_symbol */
        struct idtable by_key;
        struct stack_part *parts; /* the oldest first */
        uint32_t n_parts, parts_room;
        uint64_t threads[LIMIT_SAMPLED_THREADS]; /* in the order in which they were sampled */
        uint32_t n_threads;
        uint32_t unnamed; /* frames */
        bool any_defined; /* something, since frames without names were last named */
        uint32_t wait;    /* so many refreshes are passed over until they are again */
};

struct profile {
        struct pool stacks; /* struct profile_stack */
        struct idtable by_stack;
        struct arena centres; /* their ids */
        uint64_t seed;
        uint64_t ticks, left_out;
        uint64_t renames; /* of frames of stacks that had been counted before */
        bool is_sampled;  /* its stacks are samples (stack_samples.c), not of the runtime's ticks */
        struct stack_samples samples;
};

void profile_init(struct profile *p);
void profile_done(struct profile *p);
size_t profile_held(const struct profile *p);
void profile_tick(struct model *m, const struct hw_event *e);

/* Counts a stack of cost centres, innermost first; is_sampled as the member. A run has a profile of one kind only. */
/* `thread`: of a sample; 0: it is a tick, or of a thread that is not told apart. */
void profile_count(struct model *m, const uint32_t *centres, uint32_t depth, bool is_sampled, uint64_t thread);
void profile_leave_out(struct model *m, bool is_sampled); /* one that cannot be kept */

void stack_samples_init(struct stack_samples *s);
void stack_samples_done(struct stack_samples *s);
size_t stack_samples_held(const struct stack_samples *s);

/* USER_BINARY_MSG: a message of ghc-stack-profiler's, or a note. */
void stack_samples_message(struct model *m, const struct hw_event *e);

/* Names frames whose definitions came after them. Call it often. */
void stack_samples_refresh(struct model *m);

struct ticky {
        struct pool counters; /* struct ticky_counter */
        struct idtable by_id;
        uint64_t seed;
        uint64_t events, left_out;
        uint32_t defined;
};

void ticky_init(struct ticky *t);
void ticky_done(struct ticky *t);
size_t ticky_held(const struct ticky *t);
void ticky_define(struct model *m, const struct hw_event *e);
void ticky_sample(struct model *m, const struct hw_event *e);

/* Event time of a run: its range, blocks, watermark, and the mapping to Unix time. Private to the model. */

struct clock {
        uint64_t first_ns, newest_ns;           /* see clock_see; first is UINT64_MAX before the first event */
        bool observed;                          /* an event that is no definition has come */
        uint64_t block_offset, block_size;      /* of the stream's newest block; size 0: none */
        uint64_t block_begin_ns, block_span_ns; /* times that its events can have */
        uint64_t global_end_ns;                 /* newest end_time of the buffer without a capability; UNKNOWN_U64 */
        uint64_t watermark_ns;                  /* all earlier events have arrived; 0: not known */
        uint64_t blocks;                        /* most block markers of any one capability */
        uint64_t whole_blocks;                  /* the same, where blocks come in pieces; else 0 */
        uint64_t anomalies;
        uint64_t sure_begin_ns, sure_width_ns; /* see clock_sure */
};

void clock_clear(struct clock *c);

/*
 * Of a program that is watched from outside there is one buffer and no capability; in all other logs the size of the
 * heap is in a capability's.
 */
bool clock_is_from_outside(const struct model *m);

/* BLOCK_MARKER */
void clock_block(struct model *m, const struct hw_event *e);

/* WALL_CLOCK_TIME */
void clock_wall(struct model *m, const struct hw_event *e);

/*
 * Takes in an event's time. The run is known from where the first block begins that has more than definitions; until
 * it comes, from the first definition. A time outside of its block is counted as an anomaly and moved to the block's
 * nearest end: returns true, with that end in *ret_time_ns.
 */
bool clock_see(struct clock *c, const struct hw_event *e, uint64_t *ret_time_ns);

/*
 * Whether clock_see would change nothing: the time is within the newest block, whose start and end have already been
 * taken in. One comparison for nearly every event.
 */
static inline bool clock_sure(const struct clock *c, uint64_t time_ns)
{
        return time_ns - c->sure_begin_ns < c->sure_width_ns;
}

struct model_sinks {
        struct model_sink items[MODEL_SINKS_MAX];
        unsigned n;
        const bool *stop; /* of the one that may stop the model; NULL: none */
};

/* Passes something on to all sinks that take it. */
#define PASS_ON(m, what, ...)                                                                                          \
        do {                                                                                                           \
                const struct model_sinks *to = &(m)->sinks;                                                            \
                for (const struct model_sink *s = to->items; s < to->items + to->n; s++)                               \
                        if (s->what)                                                                                   \
                                s->what(s->ctx, __VA_ARGS__);                                                          \
        } while (0)

struct model {
        /* What every event touches comes first. */
        struct clock clock;
        unsigned changes;
        bool ended, completed;
        bool no_bands, no_history; /* model_want */
        struct sched sched;
        struct cap_state *caps; /* sched.n_caps of them in use */
        uint32_t caps_room;
        uint8_t stop_status[SCHED_STATUSES]; /* maps a log's status to the current numbering */

        struct model_sinks sinks;
        struct heap heap;
        struct heap_state heap_state;
        struct gc gc;
        struct gc_state gc_state;
        struct bands bands;
        struct census_state census;
        struct notes notes;
        struct profile profile;
        struct ticky ticky;
        struct run run;
        struct strings identity;  /* texts of the run: apart, so that a flood of names cannot crowd them out */
        uint64_t refreshed_ns;    /* event time when rates were last computed */
        uint64_t dropped_samples; /* lost: out of memory for their series */
        struct series_finely finely;
        struct series series[SERIES_COUNT];
};

/* Takes in one sample of a gauge: its series, and the sink. */
void model_sample(struct model *m, enum series_id id, uint64_t time_ns, uint64_t value);
