/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send.h - the inside of the publisher: one function per kind of message.
 *
 * Each sends the model's current state of that kind either live (to == NULL:
 * with the topic's next sequence number, to the sink) or as part of a snapshot
 * (with the number that the topic had when its first part was made, to one late
 * joiner). The same code makes both, so they cannot differ.
 *
 * All return false when out of memory, or when the late joiner takes no more
 * now (to->full); what was sent until then stays sent. Rows of a snapshot are
 * sent from to->row on, which follows what was taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/gc.h"
#include "daemon/model/series.h"
#include "daemon/publish/encode.h"
#include "daemon/publish/limits.h"
#include "daemon/publish/publisher.h"

/*
 * What the model's sink hands over between two messages: samples,
 * collections, bands to define, notes to pass on.
 *
 * Samples and collections are copied, into arrays that grow to the size of one
 * message and stay until gathered_shrink. Bands and notes are only remembered
 * by number: the model keeps them. "Full" always means: send, then continue.
 */

/* Samples of one series, ready to be packed. */
struct gathered_samples {
        uint64_t *times_ns, *values;
        uint32_t n, capacity;
        uint64_t dropped; /* when out of memory */
};

struct gathered_collections {
        struct collection *rows;
        uint32_t n, capacity;
        uint64_t dropped;
};

struct gathered {
        struct gathered_samples samples[SERIES_COUNT]; /* by enum series_id */
        bool any_samples;
        struct gathered_collections collections;
        uint32_t bands[LIMIT_BANDS_PER_UPDATE];
        uint32_t n_bands;
        uint64_t notes_sent, notes_last; /* numbers; those in between wait */
};

void gathered_init(struct gathered *g);
void gathered_done(struct gathered *g);

/* A run begins: empties everything, keeps the memory. */
void gathered_clear(struct gathered *g);

/* False when the message is full. When out of memory the sample is counted as dropped, and the result is true. */
bool gather_sample(struct gathered *g, enum series_id series, uint64_t time_ns, uint64_t value);
bool gather_collection(struct gathered *g, const struct collection *collection);
bool gather_band(struct gathered *g, uint32_t id);

/* Frees arrays that a burst has made large and that are empty now. */
void gathered_shrink(struct gathered *g);

/* Empties what has been sent. */
void gathered_samples_sent(struct gathered *g);
void gathered_collections_sent(struct gathered *g);

#define KINDS (HW__KIND__KIND_ALERT + 1)

struct publisher {
        char *target;
        uint64_t epoch;
        struct update_sink sink;
        struct target_messages messages;
        struct model *model;     /* borrowed; NULL until publisher_attach */
        struct tracker *tracker; /* borrowed; NULL: no trends are published */
        struct encoder *encoder; /* shared */
        struct gathered gathered;
        uint64_t sequences[KINDS];   /* newest of each topic */
        unsigned sent;               /* 1 << kind for each kind sent in this run */
        uint64_t wall_ns;            /* as last given by the caller */
        uint32_t run;                /* ordinal; 0 before the first */
        unsigned changes;            /* enum model_change, taken and not yet sent */
        uint64_t profile_seen;       /* profile_ticks() at the last profile message */
        uint64_t ticky_seen;         /* likewise ticky_events() */
        const struct alerts *alerts; /* borrowed; NULL: none */
        alert_extra_fn *alert_extra; /* NULL: nothing to add */
        void *alert_extra_ctx;
        bool stopped;               /* its process is: nothing of it is judged, and it has no rates */
        enum limit_source ended_by; /* the limit that ended the program; LIMIT_SOURCE_UNKNOWN: none is known to have */
        bool trends_changed;        /* all of them, by one of these */
        struct update_wish wish;
        int error; /* of the sink */
};

/*
 * Completes and sends an update whose body is set, then resets the encoder.
 * False, with nothing sent, when the encoder was out of memory.
 */
bool send_update(struct publisher *p, Hw__Update *update, struct snapshot *to);

/* Before a part of many is made. False: the late joiner gets the rest later. */
bool may_make_part(struct snapshot *to);

/* Uses up a sequence number for a message that cannot be made: subscribers see a gap and request a snapshot. */
void send_gap(struct publisher *p, Hw__Kind kind);

bool send_target(struct publisher *p, struct snapshot *to);
bool send_health(struct publisher *p, struct snapshot *to);
bool send_heap(struct publisher *p, struct snapshot *to); /* live: with the collected samples */
bool send_gc(struct publisher *p, struct snapshot *to);   /* live: with those since the last message */
bool send_sched(struct publisher *p, struct snapshot *to);
bool send_alerts(struct publisher *p, struct snapshot *to);
bool send_census(struct publisher *p, const struct census *census, struct snapshot *to);

/* In parts of bounded size. */
bool send_new_bands(struct publisher *p); /* those that are gathered */
bool send_all_bands(struct publisher *p, struct snapshot *to);

/* Notes from number `first` to number `last`, except those no longer kept. */
bool send_notes(struct publisher *p, uint64_t first, uint64_t last, struct snapshot *to);

/* Live: rows changed since the last message; snapshot: all. */
bool send_profile(struct publisher *p, struct snapshot *to);
bool send_ticky(struct publisher *p, struct snapshot *to);

/* Trends that are due; all trends, to a late joiner. */
bool send_trends_due(struct publisher *p);
bool send_trends_all(struct publisher *p, struct snapshot *to);
