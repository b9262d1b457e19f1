/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline.h - the stages of one target, connected: bytes -> events -> model ->
 * messages.
 *
 * Live, a source feeds it and it publishes at once, at most every
 * PACE_INTERVAL_NS (pipeline_state.c). For finished logs bytes are passed in with
 * pipeline_bytes and it publishes by event time, so that the messages depend
 * only on the log.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"
#include "heapwatch/wire.h"
#include "daemon/publish/event_stream.h"
#include "daemon/publish/publisher.h"
#include "daemon/publish/update_sink.h"
#include "daemon/source/uri.h"
#include "proto/base/error.h"

struct alert_hooks;
struct alert;
struct alert_result;
struct alerts;
struct alerting;
struct checkpoint;
struct event_base;
struct in_order_place;
struct model;
struct recorder;
struct recording;
struct pipeline;
struct ruleset;
struct tracker_config;

struct pipeline_options {
        struct event_base *base;      /* NULL: a finished log, no source */
        const char *name;             /* valid target name; copied */
        const struct source_uri *uri; /* copied */
        uint64_t epoch;
        struct update_sink sink;        /* copied */
        const struct update_wish *wish; /* finished logs only; copied; NULL: everything */
        bool show_arguments;
        enum event_wish events;                /* finished logs only */
        uint64_t origin_ns;                    /* finished logs only: taken from all event times (log_origin.c) */
        const bool *event_ids;                 /* with EVENTS_ALONE: which of all ids; borrowed; NULL: all */
        const struct tracker_config *trend;    /* copied; NULL: one minute, no limit known */
        const struct ruleset *rules;           /* borrowed until pipeline_reload or _destroy; NULL: nothing is judged */
        const struct alert_hooks *alert_hooks; /* copied; NULL: none */
        struct alerting **alerting;      /* of the previous target of that name, taken over; *alerting may be NULL */
        struct recorder *recorder;       /* borrowed; NULL: its stream is not recorded */
        uint64_t resolution_ns;          /* as requested for this target; kept in checkpoints */
        const char *labels;              /* copied, kept in checkpoints; proto/base/labels.h; NULL: none */
        const char *process_only_reason; /* copied, kept in checkpoints: why it has no log; NULL: none given */
        const struct checkpoint *checkpoint; /* live: its saved state, or NULL */
        bool one_run; /* the source is of one run: once it is gone, the target is kept as it ended */
        /* Called before another run begins in the source, for pipeline_leave_run. May be NULL. */
        void (*next_run)(void *ctx, struct pipeline *p);
        void *next_run_ctx;
};

/* Creates it and starts reading. NULL with a sentence in `error`. */
struct pipeline *pipeline_new(const struct pipeline_options *options, struct error *error);

/*
 * Frees, clears the pointer; NULL allowed. Live: publishes the newest state, and subscribers keep it, because a target
 * is not removed when its daemon stops.
 */
void pipeline_destroy(struct pipeline **p);

/* The same, and subscribers forget the target. Not NULL. (pipeline_end.c) */
void pipeline_remove(struct pipeline **p);

const char *pipeline_name(const struct pipeline *p);
/* Whether it has all of the other one's run, of one source and from the same event on. */
bool pipeline_has_run_of(const struct pipeline *p, const struct pipeline *other);
const struct model *pipeline_model(const struct pipeline *p);

/* NULL: none are judged. */
const struct alerts *pipeline_alerts(const struct pipeline *p);

/* Live: what the action `why` of one of these alerts has found out; it may come after the end of the run. */
void pipeline_answered(struct pipeline *p, const struct alert *alert, const struct alert_result *why);

/* NULL: it is not recorded. */
struct recording *pipeline_recording(const struct pipeline *p);

/* Live: sends to its program on the connection that the log comes from. False with an error. */
bool pipeline_send(struct pipeline *p, const void *bytes, size_t n, struct error *error);

/* How the program ended, as reported by its parent; before or after the end of its log. */
void pipeline_exited(struct pipeline *p, const struct run_exit *how);

/*
 * Of a target of `heapwatch run` without a stream, once a second: learns of an end that its runner could not report, or
 * that runner and program were killed.
 */
void pipeline_check_runner(struct pipeline *p);

/* Whether its run is lost, its process is there, and that has an agent. */
bool pipeline_may_return(const struct pipeline *p);

/* A target of one run whose end is told, or whose source is gone: its name is free. */
bool pipeline_is_over(const struct pipeline *p);

/* Such a target whose source has been gone for at least `for_ns`. */
bool pipeline_is_gone(const struct pipeline *p, uint64_t for_ns);

/* It had a run, or its program failed before its log began. */
bool pipeline_is_worth_keeping(const struct pipeline *p);

/* Keeps such a target: nothing is read any more, all state stays. */
void pipeline_keep(struct pipeline *p);
bool pipeline_is_kept(const struct pipeline *p);

/* The descriptors that its source and its recording may have open; the latter a locked directory and two files. */
#define RECORDING_DESCRIPTORS 3u
size_t pipeline_descriptors(const struct pipeline *p);
uint64_t pipeline_ended_wall_ns(const struct pipeline *p);

/*
 * Another target takes over the name of one that is over: ends the alerts of its run and returns what judges the name
 * (alerting_detach), for pipeline_options; NULL: nothing does.
 */
struct alerting *pipeline_release_alerting(struct pipeline *p);

/*
 * After that, renames a kept target: subscribers see the old name removed and a kept target of the new name. -ENOMEM:
 * nothing has changed.
 */
int pipeline_set_aside(struct pipeline *p, const char *name);

/*
 * The previous run becomes a kept target of that name, with all its state; `p` goes on as if it had never had it. NULL:
 * out of memory, or the run is empty; nothing has changed. (run_before.c)
 */
struct pipeline *pipeline_leave_run(struct pipeline *p, const char *name);

/* Replaces the rules, if it was made with some. */
void pipeline_reload(struct pipeline *p, const struct ruleset *rules);

/* A client looks at the history of a series (model_keep_finely). */
void pipeline_keep_finely(struct pipeline *p, enum series_id series);

/* About the memory of its state. */
size_t pipeline_held_bytes(const struct pipeline *p);

/* Sets whether new bands are left out, and counted, because memory is tight. */
void pipeline_close_bands(struct pipeline *p, bool closed);

/* Once a second: looks at the process and repeats state, health and alerts. */
void pipeline_heartbeat(struct pipeline *p, uint64_t wall_ns);

/* Updates that bring a late joiner to the current state; see publisher_snapshot. */
int pipeline_snapshot(struct pipeline *p, struct snapshot *s);

/*
 * Finished logs: pass in the next bytes, then finish with the reason why more may be in the log than was read (NULL: it
 * was all) and whether its end is not among what was. Both return 0 or the sink's error.
 */
int pipeline_bytes(struct pipeline *p, const uint8_t *data, size_t size);

/* Before that, of a log that was put in order: where these bytes lie in the file. */
void pipeline_place(struct pipeline *p, const struct in_order_place *place);

/* The same with events that were decoded elsewhere, as hw_eventlog_read delivers them: `status` comes after them. */
int pipeline_events(struct pipeline *p, enum hw_eventlog_status status, const struct hw_event *events, size_t n);

int pipeline_finish(struct pipeline *p, const char *why, bool cut);

/* In place of it, where no more events are at hand and the run continues after them: it stays as it is, judged. */
int pipeline_finish_part(struct pipeline *p);

/*
 * Finished logs: whether so much of what was passed in is damaged (LIMIT_DAMAGED_BYTES) that the rest is not worth
 * reading. Then `ret` says so, as a clause, with the amounts.
 */
#define PIPELINE_UNREAD_SIZE 256u
bool pipeline_is_mostly_damaged(const struct pipeline *p, char ret[PIPELINE_UNREAD_SIZE]);

/* Whether a header was ever found: otherwise it was not an eventlog. */
bool pipeline_has_run(const struct pipeline *p);

/* Finished logs: see log_reader_want_band. */
void pipeline_want_band(struct pipeline *p, uint32_t run, uint32_t band, bool wanted);

/* For finished logs without one: what is wrong with the file. */
const char *pipeline_why_no_run(const struct pipeline *p);
