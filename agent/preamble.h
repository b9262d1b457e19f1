/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * preamble.h - what a late joiner needs before the rest makes sense: the log's
 * header, and the definitions (capability sets, arguments,
 * wall clock, capabilities, labels, HEAP_PROF_BEGIN, cost centres, info
 * tables, ticky counters), kept as the runtime wrote them, by capability.
 *
 * Also reads the times that the census meter needs, and which info tables occur in censuses. One thread only. A chunk
 * that is not understood is passed on to readers, but nothing is kept of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/limits.h"
#include "agent/queue.h"
#include "proto/base/error.h"

/*
 * table_names.c: names of info tables that the program itself does not describe.
 *
 * A heap profile by info table (-hi) gives addresses. What they are is described by events of the log only for modules
 * that were compiled with -finfo-table-map, which Debian's libraries and the runtime are not. The others have symbols
 * in the program's file: those that occur in a census are looked up there and described by such events, too, so that
 * they are in what is recorded. Their place in the source is unknown: it says TABLE_NAMES_PLACE instead.
 *
 * The file is read in pieces with a table of addresses in hand, so nothing is mapped or kept of it. One thread only.
 */

/* As GHC writes "<entire-module>" where it knows no line. */
#define TABLE_NAMES_PLACE "<symbol table>"

struct table_name {
        uint64_t key;     /* as in the census: the table's address */
        uint32_t name_at; /* in the file's table of names; 0: none found */
        bool ambiguous;   /* several symbols are there */
};

struct table_names {
        uint64_t *seen; /* those that have occurred: a hash table of `room` places, 0: free */
        size_t count, room;
        struct table_name *pending; /* in order of their addresses once they are looked up */
        size_t n_pending, pending_room;
};

void table_names_reset(struct table_names *t);

/* The label of a band: "0x4a6500". Anything else is ignored. */
void table_names_see(struct table_names *t, const char *label, size_t size);

/* There is a description of this one: it is not looked up. After table_names_sort. */
void table_names_sort(struct table_names *t);
void table_names_known(struct table_names *t, uint64_t key);

/*
 * Looks the pending ones up in the file at `path`, which was loaded at `bias`, and has `send` given blocks of
 * definitions of capability 0 and of the time at_ns; afterwards none is pending. False with a sentence when the file
 * cannot be read or has no symbol table.
 */
bool table_names_find(struct table_names *t, const char *path, uintptr_t bias, bool profiled, uint64_t at_ns,
                      void (*send)(struct chunk *c), struct error *error);

/* In the child of a fork(2): the file that the parent may just have had open is closed. */
void table_names_fork_child(void);

/*
 * What a census costs: the pause of the collection it was part of; and how much is alive.
 *
 * From the log itself: the census' beginning (event 162) lies between the
 * beginning and the end of its collection (9, 10), which the program waits for since the capabilities were told to stop
 * (11, 12). They may come in any order, since each capability's buffer is written on its own. Pure.
 */

#define METER_KEPT 16 /* collections and censuses that may wait for each other */

struct meter {
        uint64_t gc_request[AGENT_CAPABILITIES]; /* of the collection that has not begun; 0: none is known */
        uint64_t gc_begin[AGENT_CAPABILITIES];   /* 0: none is open */
        struct {
                uint64_t begin, end;
        } collections[METER_KEPT];
        uint64_t censuses[METER_KEPT]; /* without a collection so far; 0: none */
        unsigned next_collection, next_census;
        uint64_t pause_ns;       /* of the newest census whose pause is known; 0: none is */
        uint64_t known;          /* censuses whose pause is known */
        uint64_t taken;          /* censuses seen */
        uint64_t live_bytes;     /* newest */
        uint64_t lives;          /* how often it was told */
        uint64_t promoted_bytes; /* out of the nursery since then, and since before it */
        uint64_t promoted_before_bytes;
};

void meter_gc_request(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_gc_begin(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_gc_end(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_census(struct meter *m, uint64_t at_ns);

/* What a collection of that generation copied; what survives the nursery is copied twice on its way to the oldest. */
void meter_copied(struct meter *m, unsigned generation, uint64_t bytes);

/* Live data after a collection of the oldest generation. */
void meter_live(struct meter *m, uint64_t bytes);

#define EVENT_MESSAGE    16u
#define EVENT_CENSUS     162u
#define EVENT_BAND       164u
#define EVENT_CENSUS_END 165u
#define NO_CAPABILITY    0xffffu
/*
 * Whose events our messages are, as far as a reader can see: a buffer that every log goes on to flush. A reader waits
 * for the next block of each buffer that it has seen one of, and a log of ours has none without a capability.
 */
#define MESSAGES_OF      0u

struct definitions {
        uint8_t *bytes;
        size_t size, room;
        uint64_t first_ns, last_ns;
        uint16_t capability;
};

struct preamble {
        uint8_t *header; /* NULL: no log has begun */
        size_t header_size;
        int32_t event_size[AGENT_EVENT_TYPES]; /* -1 not declared, 0xffff variable */
        struct definitions *lists;             /* one for each capability that has any */
        unsigned count;
        size_t bytes;            /* kept, of all lists */
        uint64_t left_out;       /* definitions beyond the limits */
        uint64_t not_understood; /* chunks */
        uint64_t now_ns;         /* newest time of the log */
        uint64_t message_ns;     /* end of the newest block of MESSAGES_OF */
        bool ended;              /* the end mark was seen */
        bool in_census;          /* one has begun and is not over */
        bool tables_left_out;    /* of the definitions left out some are of info tables */
        struct table_names tables;
        struct meter meter;
};

/* Forgets the log before. */
void preamble_reset(struct preamble *p);

/* Takes what the runtime wrote in one call: the header, or whole blocks. */
void preamble_add(struct preamble *p, const uint8_t *bytes, size_t size);

/*
 * Whether censuses have brought info tables that the program does not describe, which can be looked up: those that it
 * does describe are not pending any more.
 */
bool preamble_has_unnamed(struct preamble *p);

/* Whether a census that was read from outside can be written now, between two blocks: none of the log's own is open. */
bool preamble_allows_census(const struct preamble *p);

/* Header and definitions as valid blocks; NULL when there is no header or out of memory. */
struct chunk *preamble_chunk(const struct preamble *p);

/* One block with one message event of the current time. */
struct chunk *preamble_message(const struct preamble *p, const char *text, size_t size);

/* A whole log with that message only, for readers while there is none. */
struct chunk *preamble_message_log(const char *text, size_t size);
