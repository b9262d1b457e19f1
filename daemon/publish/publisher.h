/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publisher.h - from state to messages, for one target.
 *
 * It is the model's sink: a census becomes a message at once, after the bands
 * that it uses; bands, notes, samples and collections are collected.
 * publisher_flush sends these with all state that changed. A message that is
 * full is sent early, so nothing is lost.
 *
 * Sequence numbers are per topic and rise by 1 with each update of that topic.
 * When out of memory, state is sent with the next flush; a census, band or note
 * that cannot wait uses up a sequence number, so subscribers see the gap and
 * request a snapshot.
 *
 * Time comes from the caller: messages sent from the sink carry the wall_ns of
 * the last call that had one, publisher_set_clock included.
 *
 * Everything a message needs lives in an arena that is reset after sending.
 */
#pragma once

#include "heapwatch/wire.h"
#include "daemon/model/model.h"
#include "daemon/publish/alert_extra.h"
#include "daemon/publish/update_sink.h"
#include "proto/eventlog/recording/run_end.h"

struct alerts; /* rules/alerts.h */
struct encoder;
struct publisher;
struct tracker;

/* How a program ended, as reported by its parent and by the kernel. */
struct run_exit {
        bool known;
        uint32_t pid;            /* whose end it is: the program's, or of one that started it; 0: the program's */
        uint32_t status, signal; /* signal 0: none, use the status */
        bool oom_killed;         /* the OOM killer killed a process of its control group */
        bool out_of_cpu;         /* killed at its limit of processor time, as its parent saw */
        bool executed;           /* another program in its place, whose status is not the run's */
};

/* `target` and `sink` are copied. NULL when out of memory. */
struct publisher *publisher_new(const char *target, uint64_t epoch, const struct update_sink *sink);
void publisher_destroy(struct publisher **p);

/*
 * A publisher that continues, under another name, the run that `p` has published so far. Its topics' sequences continue
 * those of `p`, so new subscribers request a snapshot. It has no model, tracker or alerts yet. NULL when out of memory.
 */
struct publisher *publisher_new_of_run(const struct publisher *p, const char *target);

/* Continues under another name; the caller has to tell subscribers. -ENOMEM: nothing has changed. */
int publisher_rename(struct publisher *p, const char *target);

/* From now on makes only that. */
void publisher_set_wish(struct publisher *p, const struct update_wish *wish);

/* The sink for model_new. */
struct model_sink publisher_sink(struct publisher *p);

/* The alerts to publish (borrowed; NULL: none), and where their extra comes from (NULL: nowhere). */
void publisher_set_alerts(struct publisher *p, const struct alerts *alerts, alert_extra_fn *extra, void *extra_ctx);

/* Sends all alerts: at every change of an alert and in the heartbeat. */
void publisher_alerts(struct publisher *p, uint64_t wall_ns);

/* Fill the messages of a target with what its pipeline knows beyond the model; encode.h has how. */
struct target_messages {
        void *ctx;
        void (*target)(void *ctx, struct encoder *e, Hw__Target *out);
        void (*health)(void *ctx, struct encoder *e, Hw__Health *out);
};

/* What it publishes. Model and tracker are borrowed until publisher_destroy; without a tracker there are no trends. */
void publisher_attach(struct publisher *p, struct model *m, struct tracker *t, const struct target_messages *messages);

/* Sends what was collected and all kinds whose state changed since last time. wall_ns: now, Unix time. */
void publisher_flush(struct publisher *p, uint64_t wall_ns);

/* Where a flush would be but nothing is wanted yet: rates are those of the time since the last one all the same. */
void publisher_skip_flush(struct publisher *p);

/* After a flush: frees memory that only a burst needed. A finished log is one long burst and keeps it. */
void publisher_shrink(struct publisher *p);

/* Whether anything waits for publisher_flush. */
bool publisher_pending(struct publisher *p);

/* Whether the run's identity has changed since the last publisher_state: time to call it again. */
bool publisher_run_changed(struct publisher *p);

/* Sets the wall time of messages sent from the sink. */
void publisher_set_clock(struct publisher *p, uint64_t wall_ns);

/* Sends the target's state (kind target) and, if wanted, its health. Done at every change and in the heartbeat. */
void publisher_state(struct publisher *p, bool with_health, uint64_t wall_ns);

/*
 * A run begins: call after model_begin_run and before its first event. Flush
 * before model_begin_run: what is unsent by then is lost with the run's state
 * (bands and notes leave a gap in their sequence).
 */
void publisher_begin_run(struct publisher *p, uint64_t wall_ns);

/*
 * The updates that bring a late joiner to the current state: target, health, alerts, bands in parts, the newest census,
 * heap, gc, notes in parts, profile in parts, ticky in parts, sched, trends in parts. The caller sets the first four;
 * all else 0 is the beginning.
 */
struct snapshot {
        const Hw__Kind *kinds; /* only these; n_kinds 0: all */
        size_t n_kinds;
        bool (*each)(void *ctx, const Hw__Update *update); /* borrowed; false: not taken, as nothing more can be now */
        bool (*is_over)(void *ctx); /* before each part: the time of this turn is over; NULL: it never is */
        void *ctx;
        bool full;                                    /* `each` returned false, or `is_over` true */
        unsigned step;                                /* which kind is next; 0: not begun */
        uint32_t run;                                 /* when there is another one, the snapshot begins anew */
        uint64_t row, band;                           /* of that kind, which is next; likewise of bands */
        unsigned begun;                               /* 1 << kind */
        uint64_t sequences[HW__KIND__KIND_ALERT + 1]; /* of each topic when its first part was made */
};

/*
 * Calls `each` with the rest of a snapshot. It begins with a flush, so that nothing in it is sent again. Returns 0;
 * -EAGAIN when `each` takes no more or `is_over`: call it again later; or -ENOMEM when it stays incomplete: the late
 * joiner must not take it for the current state.
 */
int publisher_snapshot(struct publisher *p, uint64_t wall_ns, struct snapshot *s);

/* Which kinds of state were sent in this run, and which have changed since; for publisher_resume_run. */
struct publisher_run {
        unsigned sent, changes;
};

struct publisher_run publisher_run(const struct publisher *p);
void publisher_resume_run(struct publisher *p, struct publisher_run run);

/* First error of the sink (negative errno); 0: none. */
int publisher_error(const struct publisher *p);
