/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_private.h - how collections are taken in. */
#pragma once

#include "heapwatch/eventlog.h"
#include "daemon/model/gc.h"
#include "proto/base/time.h"

struct model;

/*
 * A census is made inside a major collection that the profile's timer has requested (rts/sm/GC.c, heapCensus), but its
 * events come in another block, before or after: whichever comes first is kept for the other.
 */
#define GC_CENSUSES 64u

/* Their pauses are kept per second and per ten seconds, of each the newest 32. */
#define GC_CENSUS_RINGS 2u
#define GC_CENSUS_CELLS 32u

struct gc_census_cell {
        uint64_t number, pause_ns;
};

struct gc_censuses {
        struct gc_census_cell cells[GC_CENSUS_RINGS][GC_CENSUS_CELLS];
        struct gc_census_collection {
                uint64_t from_ns, to_ns; /* to_ns 0: free, or already counted */
        } collections[GC_CENSUSES];
        uint64_t times_ns[GC_CENSUSES]; /* of censuses that wait; UNKNOWN_U64: free */
        uint32_t next_collection, next_time;
};

#define GC_SYNC_SECONDS 12u /* of the last 10 s, begun ones too */

struct gc_sync_second {
        uint64_t second, sync_ns; /* since event time 0 */
};

struct gc_state {
        struct gc_censuses censuses;
        uint64_t newest_end_ns; /* of the collection whose slop and fragmentation are kept */
        bool seen;              /* any event of class g: shares are known */
        struct gc_sync_second syncs[GC_SYNC_SECONDS];
        uint64_t mark_begin_ns, sync_begin_ns, sweep_begin_ns; /* nonmoving: UNKNOWN_U64 outside the phase */
        bool new_cycle;                                        /* the next row of a nonmoving census begins a new one */
};

/* 0 or -ENOMEM */
int gc_init(struct model *m);
void gc_clear(struct model *m);
void gc_done(struct model *m);
size_t gc_held(const struct gc *gc);

/* The run ended: collections whose end did not come are counted. */
void gc_close(struct model *m);

/* Recomputes the shares at `now_ns`; true when they changed. */
bool gc_refresh(struct model *m, uint64_t now_ns);

void gc_request(struct model *m, const struct hw_event *e);
void gc_start(struct model *m, const struct hw_event *e);
void gc_end(struct model *m, const struct hw_event *e);
void gc_stats(struct model *m, const struct hw_event *e);
void gc_count_generation(struct model *m, const struct hw_event *e);
void gc_count_all(struct model *m, const struct hw_event *e);
void gc_census(struct model *m, uint64_t time_ns); /* a heap census begins */
void gc_begin_watching(struct model *m); /* heapwatch begins a heap profile: its censuses are known from 0 on */

/* gc_census.c */
void gc_censuses_clear(struct gc_censuses *c);
/* Records a collection. Returns whether a census was made in it. */
bool gc_censuses_collection(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns);
/* Adds the pause of a collection with a census, one that is in the series of pauses too. */
void gc_censuses_count(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns);
/* Sum of the pauses that were added and ended in the whole seconds of the range. */
uint64_t gc_censuses_pause(const struct gc_censuses *c, struct time_range range);
/* Records a census. Returns whether its collection was recorded before, and is not counted yet; from *ret to *ret. */
bool gc_censuses_census(struct gc_censuses *c, uint64_t time_ns, struct time_range *ret);

void nonmoving_clear(struct model *m);
void nonmoving_mark_begin(struct model *m, const struct hw_event *e);
void nonmoving_mark_end(struct model *m, const struct hw_event *e);
void nonmoving_sync_begin(struct model *m, const struct hw_event *e);
void nonmoving_sync_end(struct model *m, const struct hw_event *e);
void nonmoving_sweep_begin(struct model *m, const struct hw_event *e);
void nonmoving_sweep_end(struct model *m, const struct hw_event *e);
void nonmoving_flush(struct model *m, const struct hw_event *e);
void nonmoving_census(struct model *m, const struct hw_event *e);
void nonmoving_pruned(struct model *m, const struct hw_event *e);
