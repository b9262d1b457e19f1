/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sample.h - a census of a heap that is too large to be copied: all of its block descriptors are read, and the blocks
 * of some of its pieces of 64 KiB, chosen at random. How much of the heap these blocks are is known exactly, so a band
 * is estimated by its share of them; large objects are counted one by one, by their descriptors.
 */
#pragma once

#include "inspect/ghc/census.h"

#define PIECE_BLOCKS 16u
#define PIECE_BYTES  (PIECE_BLOCKS * (uint64_t)BLOCK_BYTES)

struct heap_sample {
        uint64_t seed;
        size_t n_chosen, n_pieces; /* of so many */
        uint8_t *chosen;           /* of each piece, in the order of the snapshot's megablocks: whether it is */
        bool has_large;            /* large objects are counted one by one; else they are in the sample as all are */
        uint64_t read_bytes;
        uint64_t whole_bytes; /* of memory that would be enough for all of the heap; of its owner. 0: there is less */
        uint8_t *buffer;      /* of pieces, touched before the program is stopped */
        size_t n_buffer, used_buffer;
        uint8_t **more; /* single blocks, from malloc */
        size_t n_more, more_capacity;
};

/* Bytes of a sample where nothing else is wanted: 256 MiB, a quarter of the memory that may be needed at most. */
static inline uint64_t heap_sample_share(uint64_t most_bytes)
{
        const uint64_t usual = UINT64_C(256) << 20;

        return most_bytes / 4 < usual ? most_bytes / 4 : usual;
}

/*
 * Instead of snapshot_prepare(): for a sample of at most `sample_bytes`, less where `most_bytes` leave no more. False
 * with a sentence: that would be too little. heap_sample_done() in any case.
 */
bool heap_sample_prepare(struct heap_sample *x, struct heap_snapshot *s, struct ghc *g, uint64_t sample_bytes,
                         uint64_t most_bytes, struct error *error);

/* About how much is copied then. */
uint64_t heap_sample_bytes(const struct heap_sample *x, const struct heap_snapshot *s);

/* Right after snapshot_copy(), of the same moment. */
bool heap_sample_copy(struct heap_sample *x, struct heap_snapshot *s, bool (*expired)(void *ctx), void *ctx,
                      struct error *error);

/*
 * After snapshot_index(). Bands have their intervals, *ret the estimated sums of all; young closures are not in it.
 * False: out of memory.
 */
bool heap_sample_count(struct heap_sample *x, const struct heap_snapshot *s, bool by_type, struct heap_census *ret,
                       struct heap_bands *ret_bands);

/* Of the bands of a sample, as a log has it (proto/base/outside_census.h); 0: it is of all of the heap. */
double heap_sample_spread(const struct heap_sample *x, const struct heap_bands *b);

/* A type that is in so few pieces is not seen in one of twenty samples or more: at most so many bytes. */
uint64_t heap_sample_may_miss(const struct heap_sample *x);

/* As after heap_sample_prepare(): to copy once more. */
void heap_sample_clear(struct heap_sample *x);
void heap_sample_done(struct heap_sample *x);
