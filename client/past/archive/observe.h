/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * observe.h - one run of a target as its messages show it: pending data to write, and the content of its row.
 *
 * Times of events become Unix times by the run's start. What the archive already has, because a source is read again
 * after a restart, is skipped; across a gap no line is drawn and no counter's rise is spread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/past/archive/database.h"
#include "client/world/state/world.h"
#include "proto/base/idtable.h"
#include "proto/cli/options.h"
#include "proto/facts/cell.h"

/*
 * pending.c: what was seen of one run since it was last written: sums by interval, which a writer adds to those on
 * disk.
 *
 * DESIGN: this is never a copy of a row on disk, only what has to be added to it. So a row can be written any number of
 * times, a failed write is simply done later with more data, and what a killed writer had not written is missing in its
 * minute, but nothing is counted twice. Pure; times are Unix times.
 */

/* Of a series in one minute, or of a band in ten minutes: over the censuses that had it. */
struct pending_cell {
        struct {
                uint64_t time_s; /* its start */
                uint64_t of;     /* the series, the band, the pauses */
        } key;
        struct cell cell;
        double area; /* of a series: under the lines between samples, in the unit times ns */
        uint64_t covered_ns;
        double rise; /* of a counter */
};

struct pending_cells {
        struct pending_cell *items;
        size_t n, capacity;
        struct idtable by_key; /* ids: places in `items`, from 1 */
};

/* All bytes 0: empty. */
struct pending {
        struct pending_cells minutes, bands;
        struct pending_cells pauses; /* in ten minutes, of pending_pause(): their number is cell.n */
        uint64_t seed;               /* of hashes; 0: not chosen yet */
        size_t n;                    /* of all of them */
        uint64_t lost;               /* samples without room or memory */
};

void pending_done(struct pending *p);

/* One sample of a series. */
void pending_sample(struct pending *p, uint64_t series, uint64_t time_ns, double value);

/* A value went in a straight line from v0 to v1. */
void pending_line(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double v0, double v1);

/* A counter rose by `amount`, evenly over the time; all of it at to_ns if both are equal. */
void pending_rise(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double amount);

/* Pauses of a generation that are in the same cell of a sketch (proto/base/sketch.h), as `of` of a key. */
static inline uint64_t pending_pause(uint32_t generation, uint32_t cell)
{
        return (uint64_t)generation << 32 | cell;
}

void pending_add_pause(struct pending *p, uint64_t time_ns, uint32_t generation, uint64_t pause_ns);

/* A band's bytes in a census. */
void pending_add_band(struct pending *p, uint64_t time_ns, uint64_t band, double bytes);

/* The precision of pauses. Their cell is written as its middle, which lies in the same cell. */
#define PENDING_PAUSE_BITS 8u

/* Which build of a program a process of this machine runs: the linker's build id (NT_GNU_BUILD_ID). */

#define BUILD_ID_TEXT 129 /* 64 bytes in hexadecimal */

/* False: it has none, or its file cannot be read. */
bool build_id_of(uint32_t pid, char out[BUILD_ID_TEXT]);

/* Bands of the run by name, as client/past/diff has them: bands of one name are one. */
struct observed_bands {
        struct observed_band {
                char *name, *label; /* owned */
                uint64_t id;        /* in the archive; 0: not yet */
                double now;         /* in the current census */
                bool in_census;
        } * items;
        uint32_t n, room;
        struct idtable index;
        uint64_t seed;
        uint32_t *by_wire; /* index + 1 by the wire's id - 1; 0: none */
        uint32_t n_by_wire;
};

/* References to messages, in order. */
struct observed_list {
        const ProtobufCMessage **items;
        size_t n, room;
};

struct observed_verdict {
        const Hw__Trend *trend; /* a reference */
        char *what;             /* owned: "live", "band NAME" */
};

struct observed {
        char target[WORLD_NAME_MAX + 1];
        const char *host, *name; /* borrowed; the name in the archive, NULL: the target's */
        size_t daemon;
        uint32_t number;              /* of the run */
        uint64_t start_ns;            /* Unix time of event time 0; 0: unknown yet, all updates are held back */
        char build_id[BUILD_ID_TEXT]; /* empty: unknown */
        int64_t id;                   /* in the archive; 0: not yet */
        bool written;                 /* and the transaction was committed */
        bool whole;                   /* it is followed from its beginning */
        uint64_t until_ns;            /* event time of the newest sample that the archive had when this began */
        uint64_t sampled_ns;          /* event time of the newest sample since */

        uint64_t first_ns, last_ns; /* of its events; first > last: none */
        struct {
                bool any;
                uint64_t time_ns;
                double value;
        } newest[SERIES_COUNT]; /* of gauges and counters */
        uint64_t gaps;          /* of the stream, so far */
        uint64_t newest_bands_s,
                thin_s; /* ten minutes of the newest census; the previous ones, to be thinned; 0: none */

        struct pending pending;
        struct observed_bands bands;
        struct observed_list notes, held;
        uint64_t held_bytes;    /* in their packed form */
        uint64_t held_since_ns; /* when the first was published; 0: none is held */
        struct observed_verdict *verdicts;
        size_t n_verdicts;
        uint64_t lost;           /* samples, notes, bands without room, and those that the daemon dropped */
        const Hw__Target *state; /* references; NULL until they come */
        const Hw__Alerts *alerts;
        const Hw__Trend *live;
        const Hw__Trends *trends;
        bool alerts_changed, changed, over;
        bool left; /* its target was removed or set aside: another run may have its name and number */

        struct observed *next; /* in its owner's list */
};

/* NULL: out of memory. */
struct observed *observed_new(size_t daemon, const char *target, uint32_t run);
void observed_destroy(struct observed **o);

/* Whether more updates can be held back. */
bool observed_can_hold(const struct observed *o);

/* The run's start is known: takes the updates that were held back. */
void observed_begin(struct observed *o);

/* One update of this run, before the world applies it: `before` is the target in that world, NULL: it is new. */
void observed_add(struct observed *o, const struct world_target *before, const Hw__Update *update);

/* The run is over, or is about to be forgotten by the world. */
void observed_end(struct observed *o, const struct world_target *target);

/* The archive has a band of that name. */
void observed_recall_band(struct observed *o, const char *name, uint64_t id);

/* The archive is a new one, and has nothing of this run. */
void observed_unwritten(struct observed *o);

/* Discards what was written. */
void observed_written(struct observed *o);

static inline uint64_t observed_wall(const struct observed *o, uint64_t event_ns)
{
        return o->start_ns + event_ns;
}

/* writer.c: writes what was observed of runs: everything in one transaction, or nothing. */

struct writer {
        struct database *database;
        const struct text_list *labels; /* "NAME=VALUE", for every run that is written */
        uint64_t bands;                 /* how many of the largest are kept for ten minutes */
};

/* Looks up what the archive has of the run: its id, and up to when. No change if nothing, or if it cannot be read. */
void writer_find(const struct writer *w, struct observed *o);

/* Writes all runs of a list and marks them as written. SQLITE_OK, or the reason why nothing was. */
int writer_write(const struct writer *w, struct observed *runs);
