/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - from events to state: everything known about one target.
 *
 * One model per target; a new run clears it. Pure: no descriptors, no clock.
 * What must be passed on one by one (censuses, new bands, notes, collections,
 * samples) goes to the sink at once; the rest is state that is read on demand,
 * with a mask of what has changed since the last call.
 *
 * Events of different capabilities come out of time order. Nothing is held
 * back: buckets are keyed by event time and accept late samples.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/model/limits.h"
#include "daemon/model/resident.h"
#include "proto/base/process.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/bands.h"
#include "daemon/model/census.h"
#include "daemon/model/gc.h"
#include "daemon/model/run.h"
#include "daemon/model/series.h"
#include "proto/facts/facts.h"

/* notes.c: what the program said: the newest LIMIT_NOTES messages, markers and labels. */

enum note_what { /* numbers of the wire */
                 NOTE_MESSAGE = 1,
                 NOTE_MARKER = 2,
                 NOTE_THREAD_LABEL = 3,
                 NOTE_BINARY = 4,
                 NOTE_LOG = 5
};

struct note {
        uint64_t number; /* from 1 within the run */
        uint64_t time_ns;
        const char *text;    /* raw bytes, NUL-terminated; may hold anything */
        uint32_t size_bytes; /* as written by the program */
        uint32_t thread;     /* NOTE_THREAD_LABEL */
        uint16_t text_size;  /* kept: at most LIMIT_NOTE_TEXT_BYTES; 0 for NOTE_BINARY */
        uint16_t room;       /* of `text`, which is the note's own; 0: it is not */
        uint16_t cap;        /* HW_CAP_NONE outside capabilities */
        uint8_t what;        /* enum note_what */
};

struct notes;

/*
 * Notes that are kept however many others come: each message the first time, each marker the first LANDMARK_REPEATS
 * times; texts that differ only in digits count as the same. When there are too many, messages are dropped before
 * markers, and old ones before new ones. index < notes_landmarks(), in no particular order.
 */
#define LANDMARK_REPEATS 8u

uint32_t notes_landmarks(const struct notes *n);
const struct note *notes_landmark(const struct notes *n, uint32_t index);

uint64_t notes_total(const struct notes *n);                          /* number of the newest */
uint64_t notes_oldest(const struct notes *n);                         /* number of the oldest kept; 0 when none is */
const struct note *notes_get(const struct notes *n, uint64_t number); /* NULL when not kept */

/*
 * profile.c: time profile: ticks per stack of cost centres, over all capabilities; and ticky counters. Or, of a program
 * that samples its stacks itself, samples per stack: a frame then is a cost centre, from FRAME_CENTRES on.
 */
#define FRAME_CENTRES 0x80000000u

struct profile_stack {
        uint32_t id; /* dense, from 1 */
        uint32_t depth;
        const uint32_t *centres; /* ids, innermost first; depth 0 = MAIN */
        uint64_t thread; /* of a sampled one, of the first LIMIT_SAMPLED_THREADS; 0: of any other, or of ticks */
        uint64_t ticks;
        uint64_t changed; /* profile_changes() when its ticks last rose or a frame got its name */
};

struct profile;

uint64_t profile_ticks(const struct profile *p);   /* all samples, left-out ones included */
uint64_t profile_changes(const struct profile *p); /* rises with each change of a stack */
bool profile_is_sampled(const struct profile *p);  /* valid with the first tick */
uint32_t profile_stacks(const struct profile *p);
const struct profile_stack *profile_get(const struct profile *p, uint32_t id);
uint64_t profile_left_out(const struct profile *p); /* beyond LIMIT_STACKS, or of the other kind */

struct ticky_counter {
        uint64_t id;
        const char *name; /* NULL until defined: the RTS writes definitions at exit */
        const char *argument_kinds;
        uint32_t arity;
        uint64_t entries, allocs, allocd; /* totals of all batches */
        bool allocd_unknown;
        uint64_t changed; /* ticky_events() when it last changed */
};

struct ticky;

uint32_t ticky_count(const struct ticky *t);
const struct ticky_counter *ticky_get(const struct ticky *t, uint32_t index); /* from 0, in order of first sight */
uint64_t ticky_events(const struct ticky *t);                                 /* rows and definitions taken in */

/* sched.c: the scheduler: its events, most of a log, are counted rather than stored. */

#define SCHED_STATUSES 32 /* of STOP_THREAD; others count in the last */

struct sched_cap {
        uint64_t run_ns; /* between RUN_THREAD and STOP_THREAD */
        uint64_t gc_ns;  /* between its own GC_START and GC_END */
        uint64_t runs;
        uint64_t sparks[7]; /* newest SPARK_COUNTERS, in the event's order of fields */
        bool sparks_known;
        bool disabled;
        uint64_t run_since_ns;    /* UNKNOWN_U64 while no thread runs */
        uint64_t allocated_bytes; /* newest HEAP_ALLOCATED */
        uint64_t finished_thread; /* the last that finished here: its later events are ignored; UNKNOWN_U64 */
};

struct sched {
        uint64_t created, finished, migrations, wakeups;
        uint64_t stops[SCHED_STATUSES]; /* by status, in the current numbering, whichever release wrote the log */
        struct sched_cap *caps;         /* n_caps of them */
        uint32_t n_caps;                /* highest seen + 1 */
        bool uncounted; /* some of what was created or finished was missed, and threads have not been counted since */
};

/* What a STOP_THREAD status means; NULL when it is not known. */
const char *sched_stop_reason(uint32_t status);

/* heap.c: gauges of the heap and the process. UNKNOWN_U64 means not known. Meanings: eventlog events 49-51, 90, 91. */

struct heap {
        uint64_t live_bytes;     /* after the last major collection, or later from outside */
        uint64_t live_time_ns;   /* of it */
        uint64_t max_live_bytes; /* maximum residency */
        uint64_t live_samples;
        uint64_t heap_size_bytes; /* held in megablocks */
        uint64_t max_heap_size_bytes;
        uint64_t blocks_size_bytes;
        uint64_t megablocks_held; /* current - returned of the last MEM_RETURN */
        uint64_t megablocks_needed;
        uint64_t megablocks_returned;
        double size_factor;            /* greatest heap per live block that the runtime needed; 0: not known */
        uint64_t allocated_bytes;      /* sum over capabilities of their newest values */
        double allocation_rate_bps;    /* over the last 10 s of event time; negative = not known */
        struct process_sample process; /* all UNKNOWN when the process is not watched */
        struct resident resident;      /* the newest account of its resident memory */
        double facts[CARRIED_FACTS];   /* those that have no member of their own; NAN: not known */
};

struct model;

/*
 * `watermark`: a block begins, so all blocks before it are whole: no event from before time_ns is still to come. Not
 * called while a known capability has not sent anything.
 *
 * All calls come from inside model_events, model_end_run or model_process; pointers are borrowed for the call.
 */
struct model_sink {
        void *ctx;
        void (*band)(void *ctx, const struct band *band);       /* new, or redefined by a late IPE */
        void (*census)(void *ctx, const struct census *census); /* finished; its bands were passed before */
        void (*note)(void *ctx, const struct note *note);
        void (*collection)(void *ctx, const struct collection *collection);
        void (*sample)(void *ctx, enum series_id series, uint64_t time_ns, uint64_t value);
        void (*recorded_end)(void *ctx, const char *text, size_t size); /* RUN_END_MESSAGE and the rest of it */
        void (*watermark)(void *ctx, uint64_t time_ns);                 /* see above; at most once per block */
        const bool *stop; /* while true, model_events returns after the current event; NULL: never */
};

/* What changed since model_collect_changes. */
enum model_change {
        MODEL_RUN = 1 << 0, /* identity */
        MODEL_HEAP = 1 << 1,
        MODEL_GC = 1 << 2,
        MODEL_PROFILE = 1 << 3,
        MODEL_TICKY = 1 << 4,
        MODEL_SCHED = 1 << 5
};

/* NULL when out of memory. The sink is copied; NULL: nobody listens. */
struct model *model_new(const struct model_sink *sink);
void model_destroy(struct model **m);

/* Replaces the sinks, which are copied: each is called in turn, in this order. One of them at most has a `stop`. */
#define MODEL_SINKS_MAX 4u
void model_set_sinks(struct model *m, const struct model_sink *sinks, unsigned n);

/* A header was read: forgets everything about the previous run. */
void model_begin_run(struct model *m, uint32_t ordinal);

/*
 * The run that has just begun is of a process that has no log (struct run's process_only): event time is time since its
 * start, and what is not in /proc stays unknown.
 */
void model_set_process(struct model *m, const struct process_identity *process);

/* The run's process has this number where the daemon is. */
void model_set_host_pid(struct model *m, uint32_t pid);

/* For such a run, after each sample: all of it up to `time_ns` has arrived. */
void model_pass_time(struct model *m, uint64_t time_ns);

/* Events of the run in stream order. Returns how many it took: all, unless a sink made it stop. */
size_t model_events(struct model *m, const struct hw_event *events, size_t n);

/* The blocks that come are pieces: of any one buffer the program has written at most so many. */
void model_has_blocks(struct model *m, uint64_t n);

/* From now on these are kept, too: rules read them, or a client has asked. What was before stays as it is. */
void model_keep_finely(struct model *m, struct series_finely more);

/* More events of a run that was ended by mistake will follow: what was closed stays closed. Missed: not all of them. */
void model_resume_run(struct model *m, bool missed);

/*
 * The stream ended: closes what is open (an unfinished census is passed on as such). State stays readable.
 * `completed`: by the program itself, so what has not come was never logged.
 */
void model_end_run(struct model *m, bool completed);

/* While closed, what is new in the current run is left out, and counted: bands, info tables, cost centres, stacks. */
void model_close_bands(struct model *m, bool closed);

/* A sample of the local process, at event time `time_ns`. */
void model_process(struct model *m, uint64_t time_ns, const struct process_sample *sample);

/*
 * The mask of enum model_change since the last call, which clears it. Recomputes rates and shares at the newest event:
 * call it before reading them.
 */
unsigned model_collect_changes(struct model *m);

/* ------------------------------------------------------------ reading state */

const struct run *model_run(const struct model *m);
const struct heap *model_heap(const struct model *m);

/* The limit of the heap alone: -M, or the address space that is reserved for it where that is less; UNKNOWN_U64. */
uint64_t heap_own_limit(const struct run *run, const struct heap *heap, bool *ret_reserved);

const struct gc *model_gc(const struct model *m);
const struct sched *model_sched(const struct model *m);

bool model_tells_threads(const struct model *m); /* the log has an event for each thread that begins or ends */

/* Haskell threads: created and not finished, by the log; else those of the newest census from outside; NaN: unknown. */
double model_threads(const struct model *m);
const struct bands *model_bands(const struct model *m);

/*
 * Whether further censuses have rows of that band; without, their totals have it all the same. Those from outside have
 * all.
 */
void model_want_band(struct model *m, uint32_t band, bool wanted);

/* Without bands a census is its total alone, without history no series has samples. For all runs, before any event. */
void model_want(struct model *m, bool bands, bool history);
const struct census *model_census(const struct model *m); /* newest finished; number 0 when none */
const struct census_history *model_census_history(const struct model *m);
const struct notes *model_notes(const struct model *m);
const struct profile *model_profile(const struct model *m);
const struct ticky *model_ticky(const struct model *m);
const struct series *model_series(const struct model *m, enum series_id id,
                                  struct series_view *room); /* series_read() */

/*
 * Time in collections that were made for heap censuses and ended in the whole seconds of the range, or, if that is
 * longer than half a minute, in its whole tens of seconds; known for five minutes (gc_census.c).
 */
uint64_t gc_census_pause_ns(const struct model *m, struct time_range range);

/* Newest event time seen in the run; 0 before the first event. */
uint64_t model_time_ns(const struct model *m);

/*
 * From when on the run is known: the begin of the first block that has more than definitions, which are said again to
 * whoever joins late (model_defines); that of the oldest definition as long as there is nothing else. UNKNOWN_U64
 * before the first event.
 */
uint64_t model_first_time_ns(const struct model *m);
bool model_defines(uint16_t event_id);

/*
 * All events up to here have arrived: the minimum over all buffers of the end of the newest whole block (the newest
 * block of the stream is whole when the next one begins). UNKNOWN_U64 until each buffer has sent one.
 */
uint64_t model_watermark_ns(const struct model *m);

/* Event time of a Unix time of now, and back; UNKNOWN_U64 while the run's start is unknown. */
uint64_t model_event_time(const struct model *m, uint64_t wall_ns);

/*
 * The wall clock was set, or the machine slept: from now on it is by that much ahead of where event time had it, which
 * `note` says.
 */
#define CLOCK_STEP_NS UINT64_C(1000000000) /* less is drift */
void model_step_clock(struct model *m, int64_t step_ns, const char *note);
uint64_t model_wall_time(const struct model *m, uint64_t time_ns);

/* Counters of what went wrong in this run. */
uint64_t model_late_samples(const struct model *m);
uint64_t model_time_anomalies(const struct model *m);

/* Memory held, in bytes. */
size_t model_held_bytes(const struct model *m);

/*
 * model_image.c: the image of a model, see daemon/model/image/image.h.
 *
 * Reading needs a new model, which must be destroyed after an error. Its sink
 * stays; nothing restored is passed to it.
 */

struct image;
#include "daemon/model/model.h"

/* `arguments`, when writing: include the program's; else only its name and the RTS options. */
void model_image(struct image *im, struct model *m, bool arguments);
