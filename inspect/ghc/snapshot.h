/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot.h - a copy of a program's heap, and of what it has written elsewhere: all of one moment, if the program is
 * stopped for snapshot_copy(). What is not in it is read from the program: code, which does not change.
 *
 * Of a heap that takes too long for a stop, most is copied before, while the program runs: the closures of the oldest
 * generation stay where they are between two major collections (snapshot_settle()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/ghc/layout.h"

#define SNAPSHOT_BASE_BYTES (UINT64_C(160) << 20) /* that an inspection needs without the heap: symbols, tables */

enum group_kind {
        GROUP_OTHER,   /* the runtime's own: lists of what is mutable, blocks in reserve */
        GROUP_SMALL,   /* closures one after the other */
        GROUP_LARGE,   /* one closure */
        GROUP_COMPACT, /* a part of a compact region */
        GROUP_NONMOVING,
        GROUP_YOUNG,   /* in a nursery: allocated since the last collection */
        GROUP_NURSERY, /* in one that no capability has at the moment (-n): since the last collection, or before it */
};

struct heap_group {
        uint64_t start, end; /* of what is used */
        uint32_t blocks;
        uint16_t flags; /* enum block_flag */
        uint8_t kind;
};

/* Whether a census has what is in it: not what is young. */
static inline bool heap_group_is_counted(const struct heap_group *g)
{
        return g->kind == GROUP_SMALL || g->kind == GROUP_LARGE || g->kind == GROUP_COMPACT ||
               g->kind == GROUP_NONMOVING;
}

/* Of 32 words, which are headers of closures that were reached (reach.c), and the node of the first of these. */
struct marks {
        uint32_t bits, before;
};

struct megablock {
        uint64_t at;
        uint8_t *bytes; /* as they were read; or packed */
        uint32_t size;  /* of these, which may go by snapshot_release() */
        uint64_t *wide; /* of a packed one, behind `bytes`: words that have no short form; NULL: it is not packed */
        uint32_t groups[MEGABLOCK_BLOCKS];       /* of each block: index in snapshot.groups, plus 1; 0: none */
        uint8_t **parts;                         /* of a sample: its blocks, or NULL, for `bytes` has no others */
        struct marks *marks;                     /* of each 32 words; NULL: none is marked */
        uint64_t settled[MEGABLOCK_BLOCKS / 64]; /* of each block: not read again while its descriptor is the same */
};

struct written {
        uint64_t start, end;
        uint8_t *bytes;
};

struct heap_snapshot {
        struct ghc *ghc;              /* borrowed */
        struct megablock *megablocks; /* by address */
        size_t n_megablocks, megablocks_capacity;
        uint32_t *places; /* of each MiB from `low` on: index in megablocks, plus 1; 0: none */
        uint64_t low;
        size_t n_places;
        struct heap_group *groups;
        size_t n_groups, groups_capacity;
        struct written *written; /* by address */
        size_t n_written, written_capacity;
        uint64_t written_bytes;
        bool is_partial;   /* not all that was written elsewhere could be copied */
        uint64_t *changed; /* what words had that were another at the second reading */
        size_t n_changed, changed_capacity;
        struct generations generations; /* of that moment */
        uint8_t *reserve;               /* memory for megablocks; most is touched before the program is stopped */
        size_t n_reserve, used_reserve; /* megablocks; bytes */
        bool is_packed;                 /* megablocks are, as they are copied */
        uint64_t bases[3];              /* that words of packed ones have their upper halves from */
        uint64_t heap_bytes;            /* as it was before the copy */
        uint64_t region_bytes;          /* of all blocks of compact regions; of that moment */
        uint64_t most_bytes;            /* that the copy may have */
        uint64_t bytes;                 /* that it has */
        uint64_t each_bytes;            /* of a megablock: all, or its descriptors alone */
        uint64_t lost_links;            /* lists of blocks that led nowhere */
        bool expired;
        struct heap_snapshot *before; /* what snapshot_settle() has set aside; NULL: nothing */
        uint64_t left_bytes;          /* with that, about what snapshot_copy() still reads of the heap */
};

/* How large the heap is now, in whole megablocks. */
uint64_t snapshot_heap_bytes(struct ghc *g);

/*
 * Looks how large the heap is and makes room. `needed_bytes` a byte of heap needs so much in all, in quarters. False
 * with a sentence: it is larger than `most_bytes` allow.
 */
bool snapshot_prepare(struct heap_snapshot *s, struct ghc *g, uint64_t most_bytes, unsigned quarters_a_byte,
                      struct error *error);

/*
 * The same, for a copy that takes half the memory, which heap_arrays_count(), snapshot_settle() and snapshot_reread()
 * do not read. Until it is used, `is_packed` may be taken back.
 */
bool snapshot_prepare_packed(struct heap_snapshot *s, struct ghc *g, uint64_t most_bytes, unsigned quarters_a_byte,
                             struct error *error);

/* What that needs, of a heap as large as it was then. */
uint64_t snapshot_needed_bytes(const struct heap_snapshot *s, unsigned quarters_a_byte);

/* The same as snapshot_prepare(), for the descriptors of blocks alone; `most_bytes` are enough. */
bool snapshot_prepare_descriptors(struct heap_snapshot *s, struct ghc *g, struct error *error);

/* After a copy that failed, to try once more with the same memory. False: the heap has grown beyond it. */
bool snapshot_prepare_again(struct heap_snapshot *s);

/* Copies. False with a sentence; `expired` says whether the time for it is over (NULL: it never is). */
bool snapshot_copy(struct heap_snapshot *s, bool with_written, bool (*expired)(void *ctx), void *ctx,
                   struct error *error);

/*
 * After a snapshot_copy() of a program that runs, between two major collections: sets the copy aside, so that the next
 * one, before another major collection, reads no more than what can have changed: what is not of the oldest generation,
 * refers to what is not, can be written to (a thread's stack, a MutVar), or has another descriptor since. A thunk that
 * was evaluated meanwhile may be as it was. After a copy that failed what was set aside is still good. False: out of
 * memory, and the snapshot is as after snapshot_clear().
 */
bool snapshot_settle(struct heap_snapshot *s);

/*
 * Then, of a program that runs: reads all of it again, and keeps what the words had that have changed. What the program
 * has moved from one place to another meanwhile was in one of them at one of the two readings. The youngest closures
 * come last, so that what the others lead to is there. False: it is not to be read any more, too much has changed,
 * there is no memory, or `expired` says so.
 */
bool snapshot_reread(struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx);

/* Afterwards: what each group is. False: out of memory. */
bool snapshot_index(struct heap_snapshot *s);

/* What a megablock has is not read any more, and needs no memory: its words are 0, or as they were. */
void snapshot_release(const struct heap_snapshot *s, const struct megablock *m);

/* As after snapshot_prepare(): to copy once more. */
void snapshot_clear(struct heap_snapshot *s);
void snapshot_done(struct heap_snapshot *s);

/* Goes through the threads of all generations. Begin with { .snapshot = s }. */
struct snapshot_threads {
        const struct heap_snapshot *snapshot;
        unsigned generation;
        uint64_t next, count;
};

/* False: there is no further one. */
bool snapshot_next_thread(struct snapshot_threads *t, uint64_t *ret_tso);

/* The megablock of an address; NULL: it is not in the heap. */
static inline struct megablock *snapshot_megablock(const struct heap_snapshot *s, uint64_t at)
{
        const uint64_t place = (at - s->low) / MEGABLOCK_BYTES;

        return at >= s->low && place < s->n_places && s->places[place] ? &s->megablocks[s->places[place] - 1] : NULL;
}

/* The group of an address; NULL: none. */
static inline const struct heap_group *snapshot_group(const struct heap_snapshot *s, uint64_t at)
{
        const struct megablock *m = snapshot_megablock(s, at);
        const uint32_t g = m ? m->groups[at % MEGABLOCK_BYTES / BLOCK_BYTES] : 0;

        return g ? &s->groups[g - 1] : NULL;
}

/*
 * A packed word is its lower half, the upper one being that of one of three bases, or where among the wide ones it is.
 * Fifteen of them are a line of the cache, with two bits for each that say which: first the lower one of each.
 */
#define PACKED_WORDS 15u
#define PACKED_BASES 3u

static inline uint64_t packed_word(const struct heap_snapshot *s, const struct megablock *m, uint32_t word)
{
        const uint32_t *line = (const uint32_t *)(const void *)m->bytes + word / PACKED_WORDS * (PACKED_WORDS + 1);
        const uint32_t i = word % PACKED_WORDS, forms = line[PACKED_WORDS] >> i;
        const uint32_t form = (forms & 1) | (forms >> PACKED_WORDS & 2);

        return form < PACKED_BASES ? s->bases[form] | line[i] : m->wide[line[i]];
}

/* The same with the megablock of the address, which may be NULL. */
static inline uint64_t snapshot_word_in(const struct heap_snapshot *s, const struct megablock *m, uint64_t at)
{
        const uint64_t in = at % MEGABLOCK_BYTES;

        if (!m || (at & 7))
                return 0;
        if (m->wide)
                return packed_word(s, m, (uint32_t)in / 8);
        if (!m->parts)
                return *(const uint64_t *)(const void *)(m->bytes + in);
        const uint8_t *block = m->parts[in / BLOCK_BYTES];
        return block ? *(const uint64_t *)(const void *)(block + in % BLOCK_BYTES) : 0;
}

/* A word of the heap; 0 outside. */
static inline uint64_t snapshot_word(const struct heap_snapshot *s, uint64_t at)
{
        return snapshot_word_in(s, snapshot_megablock(s, at), at);
}

/* The table of the closure at an address; NULL: there is none. */
static inline const struct closure_table *snapshot_table(const struct heap_snapshot *s, uint64_t at)
{
        return info_tables_find(&s->ghc->tables, snapshot_word(s, at));
}

/* A word of the heap, or of what the program has written elsewhere. False: it is in neither. */
bool snapshot_read(const struct heap_snapshot *s, uint64_t at, uint64_t *ret);
