/* SPDX-License-Identifier: BSD-3-Clause */
/* census_private.h - how heap profile samples are taken in. */
#ifndef HW_DAEMON_MODEL_CENSUS_PRIVATE_H
#define HW_DAEMON_MODEL_CENSUS_PRIVATE_H

#include "heapwatch/eventlog.h"
#include "daemon/model/census.h"

struct model;

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
        bool tells_groups;    /* the census that comes next does */
        uint32_t row_threads; /* of the row that comes next; 0: not said */
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

/* Drops a row of a band that is not wanted, where it is the expected one. False: it is to be handled as all others. */
bool census_skip_row(struct model *m, const struct hw_event *e);

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

#endif
