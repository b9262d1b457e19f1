/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_reader.h - finished logs, read in this process through the same stages as a live source: bytes, events, state,
 * verdicts, alerts, messages.
 *
 * It reads in steps of at most a piece of a file, so that its caller can show progress, draw, and stop at any time.
 * The messages depend on the logs alone, not on when they are read. Files are read one after the other; one that
 * cannot be read is a failure, and the others are read all the same. Events that come from elsewhere than a log go
 * the same way from there on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/config/config.h"
#include "daemon/publish/event_stream.h"
#include "daemon/publish/update_sink.h"
#include "daemon/source/uri.h"
#include "heapwatch/eventlog.h"
#include "proto/base/error.h"

struct log_reader;

/*
 * A run whose events are at hand already, of one capability and in order of time; `offset` of each is its index. How it
 * ended is told by its last event, as in a log that was cut from a recording (proto/eventlog/recording/run_end.h).
 */
struct event_list {
        char name[TARGET_NAME_MAX + 1];
        struct hw_event *events; /* n of them */
        size_t n;
        uint8_t *payloads; /* where those of the events are */
        bool continues;    /* the run, after the last of them: it is not judged as one that ended */
};

struct log_reader_options {
        const char *const *paths;       /* n of them, at least 1; borrowed */
        const struct event_list *lists; /* as many, in place of logs at those paths; borrowed; NULL: none */
        size_t n;
        struct config_trend trend; /* what was given; the rest follows from the length of each log */
        const char *const *rules;  /* n_rules files of rules beside the built-in ones; borrowed until it is made */
        size_t n_rules;
        enum event_wish events;
        const bool *event_ids; /* with EVENTS_ALONE: which of all ids; borrowed; NULL: all */
        bool show_arguments;
        struct update_wish wish;
        struct update_sink sink; /* takes all messages; its errors end the reading */
};

/* Reads the rules, and opens no log yet. NULL with a sentence in `error`; of rules with mistakes a line for each. */
struct log_reader *log_reader_new(const struct log_reader_options *options, struct error *error);
void log_reader_destroy(struct log_reader **r);

/* Reads on. 1: call again; 0: all logs have been read and the last message was sent; else the sink's error. */
int log_reader_step(struct log_reader *r);

/*
 * Whether further censuses of the newest run have that band. `run`: the one that it was defined in; of another one
 * nothing is changed.
 */
void log_reader_want_band(struct log_reader *r, uint32_t run, uint32_t band, bool wanted);

/* The descriptor that the next step reads from and may have to wait for; -1: it waits for nothing. */
int log_reader_fd(const struct log_reader *r);

/* Why a log could not be read: the first of them, and how many more; "": all could be, so far. */
const char *log_reader_failure(const struct log_reader *r);

/* What of the log that the newest step finished could not be read, though the rest of it could; "": nothing. */
const char *log_reader_warning(const struct log_reader *r);

/*
 * log_origin.c: whether the times of a finished log count from the boot of its machine: those of a process that
 * forkProcess made do. Its runtime forgets when the parent began, and logs raw times of the monotonic clock.
 */

/* A log that begins earlier than this is no such one: forkProcess and boot are farther apart. */
#define LOG_ORIGIN_LEAST_NS UINT64_C(1000000000)

struct log_origin {
        struct hw_eventlog *decoder; /* owned; NULL: nothing is looked for */
        uint64_t first_ns;           /* begin of the earliest block */
        uint64_t task_ns, task;      /* the first OS thread that the runtime met, and when; task_ns UINT64_MAX: none */
        uint32_t pid;                /* 0: not in the log */
};

/* `first_ns`: the begin of the log's earliest block. Out of memory: nothing will be found. */
void log_origin_begin(struct log_origin *o, uint64_t first_ns);

/* The next bytes of the log, from its start on. False: it is decided. */
bool log_origin_bytes(struct log_origin *o, const uint8_t *bytes, size_t n);

/* Ends it: the event time at which the process began, ns; 0: the log's clock is that of a process. */
uint64_t log_origin_end(struct log_origin *o);
