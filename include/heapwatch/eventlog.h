/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eventlog.h - incremental decoder of GHC eventlogs.
 *
 * Bytes go in, in pieces of any size; events come out. The decoder does no
 * input or output, reads no clock and allocates only when it is made, and while
 * it searches for the first block of a run that is joined late. It may be
 * suspended at any byte: any split of the same bytes gives the same events.
 *
 *     struct hw_event events[256];
 *     size_t n;
 *     enum hw_eventlog_status s;
 *
 *     hw_eventlog_input(log, data, size);
 *     while ((s = hw_eventlog_read(log, events, 256, &n)) != HW_EVENTLOG_NEED_MORE || n > 0) {
 *             use(events, n);
 *             if (s == HW_EVENTLOG_BAD) report(hw_eventlog_damage(log));
 *             ...
 *     }
 *
 * What it does with oddities: an event of a kind that heapwatch does not know
 * but the log declares is delivered and counted as unknown. An event whose
 * payload is shorter than its kind needs (by its own length or by the header's
 * declaration) is dropped and counted as short. An id that is not declared, a
 * time outside its block's, an event longer than its block are damage: skipped
 * up to the next plausible event, reported once, counted. A block marker in
 * front of a restarted log's header is skipped silently. A stream that is
 * joined in its middle continues if that is allowed (hw_eventlog_allow_join).
 *
 * It does not interpret: what events mean is the model's business. Typed
 * access to an event's fields is below (hw_event_u64 ..., hw_event_field).
 *
 * A decoder belongs to one thread at a time.
 */
#ifndef HEAPWATCH_EVENTLOG_H
#define HEAPWATCH_EVENTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_CAP_NONE        0xffffu /* capability of events outside capability blocks */
#define HW_EVENT_IDS       65536u  /* size of the space of event ids */
#define HW_EVENT_MAX_BYTES 65547u  /* largest event: id, time, length, payload */

/* One event: a view, not a copy. */
struct hw_event {
        uint64_t time_ns;       /* since the runtime system started; may go backwards */
        uint64_t offset;        /* of the event's first byte in the stream */
        const uint8_t *payload; /* borrowed: valid until the next call on the decoder */
        uint32_t size;          /* payload bytes */
        uint16_t id;            /* enum hw_event_id, or an id heapwatch does not know */
        uint16_t cap;           /* capability of the block it is in (a marker: that it opens), or HW_CAP_NONE */
};

struct hw_eventlog;

/* What stopped hw_eventlog_read; events delivered by the same call come before it. */
enum hw_eventlog_status {
        HW_EVENTLOG_OK,        /* nothing: call again */
        HW_EVENTLOG_NEED_MORE, /* all input is used up, a cut event's start is kept; comes with 0 events */
        HW_EVENTLOG_RUN,       /* a header is complete: what follows belongs to a new run */
        HW_EVENTLOG_END,       /* the end marker was read: a new header may follow, anything else is damage */
        HW_EVENTLOG_BAD,       /* damage, skipped: see hw_eventlog_damage(); call again */
        HW_EVENTLOG_LIMIT      /* as BAD, because a length exceeds a cap of the decoder */
};

/*
 * A part of the stream that could not be decoded. It is reported when it is
 * over - except where only a new header can help (not an eventlog at all, a
 * damaged header): that is reported at once, and hw_eventlog_stats' lost_bytes
 * grows until the header comes.
 */
struct hw_eventlog_damage {
        uint64_t offset;     /* of its first byte */
        uint64_t lost_bytes; /* its length, so far; 0: nothing was skipped, but a block's size was wrong */
        const char *reason;  /* static text: what was found, what was expected */
};

struct hw_eventlog_stats {
        uint64_t bytes;         /* taken in */
        uint64_t events;        /* delivered, block markers included */
        uint64_t blocks;        /* block markers */
        uint64_t runs;          /* headers */
        uint64_t unknown;       /* of the delivered: ids declared by the log but not known here */
        uint64_t short_payload; /* dropped: payload shorter than the event's kind needs */
        uint64_t resyncs;       /* damaged places */
        uint64_t lost_bytes;    /* in them, including those still being skipped */
        uint64_t passed_bytes;  /* before the first whole block of runs that were joined late: not damage */
};

/*
 * Makes a decoder waiting for a header. NULL when out of memory. Address space: about 900 KiB; memory
 * touched by an ordinary log: about 20 KiB, and up to 128 KiB if its events are that long.
 */
struct hw_eventlog *hw_eventlog_new(void);

/* Frees it and clears the pointer; NULL is allowed. */
void hw_eventlog_destroy(struct hw_eventlog **log);

/* Back to waiting for a header at stream offset 0 (the source was replaced). Statistics are kept. */
void hw_eventlog_reset(struct hw_eventlog *log);

/*
 * From now on a stream that does not begin with a header may be the middle of a run: the decoder searches for its next
 * block, by several blocks or many events that fit together, and continues from there, with HW_EVENTLOG_RUN. The events
 * that heapwatch knows count as declared, with the size that the stream shows. For streams that can be joined late: a
 * FIFO, a socket. Only at the start, and after hw_eventlog_reset; not after an end marker. Takes up to 4.2 MiB while it
 * searches; when out of memory it waits for a header.
 */
void hw_eventlog_allow_join(struct hw_eventlog *log);

/* Whether it is searching for such a block. The bytes passed so far are in hw_eventlog_stats. */
bool hw_eventlog_searching(const struct hw_eventlog *log);

/* Whether the current run was joined in this way: what came before is not known. */
bool hw_eventlog_joined(const struct hw_eventlog *log);

/*
 * Lends `size` bytes at `data` to the decoder. They must stay unchanged until
 * hw_eventlog_read has returned HW_EVENTLOG_NEED_MORE; only then may the next
 * piece be given.
 */
void hw_eventlog_input(struct hw_eventlog *log, const void *data, size_t size);

/*
 * Says that no more input will come, until hw_eventlog_reset: read again, until
 * NEED_MORE. After damage, bytes may look like an event that is longer than
 * what is at hand; at the end of the input they are taken not to be one, and
 * what follows them is delivered. Not needed when the rest may count as lost.
 */
void hw_eventlog_input_end(struct hw_eventlog *log);

/*
 * Delivers at most `max` events (at least 1) into `events` and their number
 * into `ret_count`, in stream order, and says why it stopped. Known events
 * always have at least the payload their kind needs (hw_event_info's
 * min_size), so fixed fields may be read without further checks.
 */
enum hw_eventlog_status hw_eventlog_read(struct hw_eventlog *log, struct hw_event *events, size_t max,
                                         size_t *ret_count);

/*
 * Says that no more input will come. Returns true when the stream ended
 * cleanly (after an end marker, or before any header with nothing read),
 * false when it stops inside a run; `ret_left` gets the bytes of a cut event.
 * Damage that was being skipped is closed and counted (hw_eventlog_damage then
 * gives its whole length).
 */
bool hw_eventlog_finish(struct hw_eventlog *log, uint64_t *ret_left);

/* The newest damage; valid after BAD, LIMIT and hw_eventlog_finish until the next call. */
const struct hw_eventlog_damage *hw_eventlog_damage(const struct hw_eventlog *log);

const struct hw_eventlog_stats *hw_eventlog_stats(const struct hw_eventlog *log);

/* Delivered events of one id since the decoder was made. */
uint64_t hw_eventlog_count(const struct hw_eventlog *log, uint16_t id);

/* Whether the current run's header declares this id (this distinguishes some releases). */
bool hw_eventlog_declares(const struct hw_eventlog *log, uint16_t id);

#define HW_EVENT_VARIABLE 0xffffu /* of hw_eventlog_declared_size: events of this kind carry their length */

/* The payload's size as the current run's header declares it: bytes, HW_EVENT_VARIABLE, or -1: not declared. */
int32_t hw_eventlog_declared_size(const struct hw_eventlog *log, uint16_t id);

/* ------------------------------------------------------------------ events */

/* Event ids by their names in the runtime system. */
enum hw_event_id {
        HW_CREATE_THREAD = 0,
        HW_RUN_THREAD = 1,
        HW_STOP_THREAD = 2,
        HW_THREAD_RUNNABLE = 3,
        HW_MIGRATE_THREAD = 4,
        HW_RUN_SPARK = 5,
        HW_STEAL_SPARK = 6,
        HW_SHUTDOWN = 7,
        HW_THREAD_WAKEUP = 8,
        HW_GC_START = 9,
        HW_GC_END = 10,
        HW_REQUEST_SEQ_GC = 11,
        HW_REQUEST_PAR_GC = 12,
        HW_CREATE_SPARK = 13,
        HW_SPARK_TO_THREAD = 14,
        HW_CREATE_SPARK_THREAD = 15,
        HW_LOG_MSG = 16,
        HW_STARTUP = 17,
        HW_BLOCK_MARKER = 18,
        HW_USER_MSG = 19,
        HW_GC_IDLE = 20,
        HW_GC_WORK = 21,
        HW_GC_DONE = 22,
        HW_VERSION = 23,
        HW_PROGRAM_INVOCATION = 24,
        HW_CAPSET_CREATE = 25,
        HW_CAPSET_DELETE = 26,
        HW_CAPSET_ASSIGN_CAP = 27,
        HW_CAPSET_REMOVE_CAP = 28,
        HW_RTS_IDENTIFIER = 29,
        HW_PROGRAM_ARGS = 30,
        HW_PROGRAM_ENV = 31, /* may hold secrets: never shown */
        HW_OSPROCESS_PID = 32,
        HW_OSPROCESS_PPID = 33,
        HW_SPARK_COUNTERS = 34,
        HW_SPARK_CREATE = 35,
        HW_SPARK_DUD = 36,
        HW_SPARK_OVERFLOW = 37,
        HW_SPARK_RUN = 38,
        HW_SPARK_STEAL = 39,
        HW_SPARK_FIZZLE = 40,
        HW_SPARK_GC = 41,
        HW_INTERN_STRING = 42,
        HW_WALL_CLOCK_TIME = 43,
        HW_THREAD_LABEL = 44,
        HW_CAP_CREATE = 45,
        HW_CAP_DELETE = 46,
        HW_CAP_DISABLE = 47,
        HW_CAP_ENABLE = 48,
        HW_HEAP_ALLOCATED = 49,
        HW_HEAP_SIZE = 50,
        HW_HEAP_LIVE = 51,
        HW_HEAP_INFO_GHC = 52,
        HW_GC_STATS_GHC = 53,
        HW_GC_GLOBAL_SYNC = 54,
        HW_TASK_CREATE = 55,
        HW_TASK_MIGRATE = 56,
        HW_TASK_DELETE = 57,
        HW_USER_MARKER = 58,
        HW_HACK_BUG_T9003 = 59,
        HW_EDEN_START_RECEIVE = 60,
        HW_EDEN_END_RECEIVE = 61,
        HW_CREATE_PROCESS = 62,
        HW_KILL_PROCESS = 63,
        HW_ASSIGN_THREAD_TO_PROCESS = 64,
        HW_CREATE_MACHINE = 65,
        HW_KILL_MACHINE = 66,
        HW_SEND_MESSAGE = 67,
        HW_RECEIVE_MESSAGE = 68,
        HW_SEND_RECEIVE_LOCAL_MESSAGE = 69,
        HW_MEM_RETURN = 90,
        HW_BLOCKS_SIZE = 91,
        HW_MERCURY_START_PAR_CONJUNCTION = 100,
        HW_MERCURY_END_PAR_CONJUNCTION = 101,
        HW_MERCURY_END_PAR_CONJUNCT = 102,
        HW_MERCURY_CREATE_SPARK = 103,
        HW_MERCURY_FUT_CREATE = 104,
        HW_MERCURY_FUT_WAIT_NOSUSPEND = 105,
        HW_MERCURY_FUT_WAIT_SUSPENDED = 106,
        HW_MERCURY_FUT_SIGNAL = 107,
        HW_MERCURY_LOOKING_FOR_GLOBAL_CONTEXT = 108,
        HW_MERCURY_WORK_STEALING = 109,
        HW_MERCURY_RELEASE_CONTEXT = 110,
        HW_MERCURY_ENGINE_SLEEPING = 111,
        HW_MERCURY_LOOKING_FOR_LOCAL_SPARK = 112,
        HW_MERCURY_CALLING_MAIN = 113,
        HW_PERF_NAME = 140,
        HW_PERF_COUNTER = 141,
        HW_PERF_TRACEPOINT = 142,
        HW_HEAP_PROF_BEGIN = 160,
        HW_HEAP_PROF_COST_CENTRE = 161,
        HW_HEAP_PROF_SAMPLE_BEGIN = 162,
        HW_HEAP_PROF_SAMPLE_COST_CENTRE = 163,
        HW_HEAP_PROF_SAMPLE_STRING = 164,
        HW_HEAP_PROF_SAMPLE_END = 165,
        HW_HEAP_BIO_PROF_SAMPLE_BEGIN = 166,
        HW_PROF_SAMPLE_COST_CENTRE = 167,
        HW_PROF_BEGIN = 168,
        HW_IPE = 169,
        HW_USER_BINARY_MSG = 181,
        HW_CONC_MARK_BEGIN = 200,
        HW_CONC_MARK_END = 201,
        HW_CONC_SYNC_BEGIN = 202,
        HW_CONC_SYNC_END = 203,
        HW_CONC_SWEEP_BEGIN = 204,
        HW_CONC_SWEEP_END = 205,
        HW_CONC_UPD_REM_SET_FLUSH = 206,
        HW_NONMOVING_HEAP_CENSUS = 207,
        HW_NONMOVING_PRUNED_SEGMENTS = 208,
        HW_TICKY_COUNTER_DEF = 210,
        HW_TICKY_COUNTER_SAMPLE = 211,
        HW_TICKY_COUNTER_BEGIN_SAMPLE = 212,
        /* of no runtime system: of a program that is watched from outside, by heapwatch */
        HW_OUTSIDE_GENERATION = 250,
        HW_OUTSIDE_COLLECTIONS = 251,
        HW_OUTSIDE_THREADS = 252,
        HW_OUTSIDE_BAND_THREADS = 253,
        HW_KNOWN_IDS = 256 /* every known id is below */
};

/* How a field is laid out in the payload. */
enum hw_field_type {
        HW_FIELD_U8,
        HW_FIELD_U16,
        HW_FIELD_U32,
        HW_FIELD_U64,
        HW_FIELD_TEXT,    /* bytes to the payload's end */
        HW_FIELD_STRING,  /* NUL-terminated, or to the payload's end */
        HW_FIELD_STRINGS, /* NUL-terminated strings to the payload's end */
        HW_FIELD_BYTES,   /* binary to the payload's end */
        HW_FIELD_IDS      /* u8 count, then that many u32 */
};

struct hw_field_info {
        const char *name; /* snake_case, with its unit where it has one: "copied_bytes" */
        enum hw_field_type type;
};

#define HW_EVENT_MAX_FIELDS 10

/* What is known of one kind of event. */
struct hw_event_info {
        const char *name;  /* as in the runtime system: "GC_STATS_GHC" */
        uint16_t min_size; /* payload bytes that every use relies on */
        uint8_t n_fields;
        struct hw_field_info fields[HW_EVENT_MAX_FIELDS];
};

/* The description of an id, or NULL when it is not known. Static. */
const struct hw_event_info *hw_event_info(uint16_t id);

/* A field's value. Text is borrowed from the event's payload and not NUL-terminated. */
struct hw_field_value {
        enum hw_field_type type;
        uint64_t number;      /* U8..U64; IDS: how many */
        const uint8_t *bytes; /* TEXT, STRING, STRINGS, BYTES; IDS: big-endian u32s */
        size_t size;          /* bytes at `bytes` */
};

/*
 * Reads field `index` of an event of a known kind. False when the payload ends
 * before it: fields were added by later releases. Walks the payload, so it is
 * for printing; the hot paths read fixed offsets with hw_event_u16 ... below.
 */
bool hw_event_field(const struct hw_event *event, unsigned index, struct hw_field_value *ret_value);

/* Fixed-width fields at byte `at` of the payload, big-endian. The caller has checked at + width <= size. */
static inline uint16_t hw_event_u16(const struct hw_event *e, size_t at)
{
        const uint8_t *p = e->payload + at;
        return (uint16_t)((uint16_t)p[0] << 8 | p[1]);
}

static inline uint32_t hw_event_u32(const struct hw_event *e, size_t at)
{
        const uint8_t *p = e->payload + at;
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t hw_event_u64(const struct hw_event *e, size_t at)
{
        return (uint64_t)hw_event_u32(e, at) << 32 | hw_event_u32(e, at + 4);
}

#ifdef __cplusplus
}
#endif
#endif
