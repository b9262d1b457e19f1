/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - how GHC's runtime keeps its heap: megablocks of 1 MiB, aligned, each with a descriptor of 64 bytes for
 * each of its blocks of 4 KiB; groups of neighbouring blocks; and generations, which groups belong to.
 *
 *   a megablock, at a multiple of 1 MiB
 *
 *   +0 ......... +0x100 ........................ +0x4000 .. +0x5000 ..                      .. +0x100000
 *   | not used   | descriptors of blocks 4 to 255 | block 4  | block 5  | ... a block of 4 KiB each ... |
 *                  |      |                        ^
 *                  |      '- the other blocks      '- closures one behind the other, from start up to free
 *                  |         of a group: their
 *                  |         first one is it      closure: | info pointer | words: pointers, then others |
 *                  '- first of a group:                     '-> info table: layout, type; beside it the code
 *                     start, free, blocks, flags
 *                     generation -> | number, threads, weak pointers, blocks, large objects, ... |
 *
 * A group of more than 252 blocks begins in one megablock and takes whole ones behind it, which have no descriptors.
 * Large objects (of eight tenths of a block and more) have a group each. From a pointer into a block its descriptor is
 * found by arithmetic alone: the megablock by the upper bits, the descriptor by bits 12 to 19.
 *
 * The same from GHC 9.0 to 9.10 but for the size of a generation's struct. Nothing is taken for granted: a megablock
 * is one whose fifth descriptor says where its block is, and generations are what most descriptors of the youngest
 * point to, if the number there and the chain of `to` agree.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inspect/memory/program.h"

#define BLOCK_BYTES      4096u
#define MEGABLOCK_BYTES  (UINT64_C(1) << 20)
#define MEGABLOCK_BLOCKS 256u
#define DESCRIPTOR_BYTES 64u
#define FIRST_BLOCK      4u /* the descriptors are where the first four would be */
#define GENERATIONS_MOST 16u

enum block_flag {
        BLOCK_EVACUATED = 1,
        BLOCK_LARGE = 2,
        BLOCK_PINNED = 4,
        BLOCK_MARKED = 8,
        BLOCK_COMPACT = 512,
        BLOCK_NONMOVING = 1024,
        BLOCK_NONMOVING_SWEEPING = 2048,
};

/* A group of blocks in use: its first descriptor. */
struct block_group {
        uint64_t start, free, generation;
        uint32_t blocks;
        uint16_t generation_number, flags;
};

struct heap_generation {
        uint64_t at;
        uint64_t blocks, n_words;
        uint64_t large_objects, n_large_blocks, n_large_words;
        uint64_t compact_objects, n_compact_blocks;
        uint64_t max_blocks; /* of the oldest: that a collection of it comes at; computed after the last one */
        uint64_t threads;
        uint64_t weak_pointers;
        uint32_t collections;
        uint32_t parallel_collections; /* of these */
        uint64_t old_threads; /* which a collection has not come to yet; 0 where the struct's size is not known */
        bool collecting;
};

struct generations {
        struct heap_generation items[GENERATIONS_MOST];
        unsigned n;
        unsigned struct_bytes; /* 0: there is one generation, so the size is not known */
};

#define BLOCK_FREE UINT64_MAX /* `free` of a group that is not in use */

struct block_group block_group_read(const uint8_t *descriptor);

/* The same of the first block of a megablock. False: it is no megablock. */
bool block_group_first(const uint8_t *descriptor, uint64_t megablock, struct block_group *ret);

/* False: what a first block says of its group is damaged, for the end of it cannot be read. */
bool block_group_is_there(const struct memory *m, uint64_t megablock, const struct block_group *first);

/*
 * The next group of a megablock, in use or not, from the block *at on, which is moved behind it; begin with
 * FIRST_BLOCK. `descriptors` are those of all its blocks. Only the first block's group may reach beyond the megablock:
 * another that says so is damaged, and is none. False: there is no further one.
 */
bool block_group_next(const uint8_t *descriptors, uint64_t megablock, uint32_t *at, struct block_group *ret);

/* How many megablocks the group of a first block reaches over: only the first of a large group has descriptors. */
uint64_t block_group_megablocks(const struct block_group *g);

/* Goes through memory that may be a megablock, by address. Begin with { .program = p }. */
struct megablocks {
        const struct program *program;
        uint64_t at;    /* this one */
        uint64_t left;  /* megablocks from it to the end of its mapping */
        uint64_t reach; /* set by the caller: how many its group reaches over, which come next no more; 0: it is none */
        size_t next_mapping;
};

/* False: there is no further one. */
bool megablocks_next(struct megablocks *m);

/* Goes through the groups in use of all megablocks, by address. Begin with { .in.program = p }. */
struct block_groups {
        struct megablocks in;
        uint32_t next_block;
        bool is_inside;
        uint8_t descriptors[MEGABLOCK_BLOCKS * DESCRIPTOR_BYTES];
};

/* False: there is no further one. */
bool block_groups_next(struct block_groups *b, struct block_group *ret);

/* False with a sentence: there is no GHC heap, or one that is not understood. */
bool generations_find(struct generations *ret, const struct program *p, struct error *error);

/* Reads them again. False: they cannot be read. */
bool generations_read(struct generations *g, const struct program *p);

/* Megablocks of the heap, those in reserve included. *ret_nonmoving: the non-moving collector has some of it. */
uint64_t blocks_megablocks(const struct program *p, bool *ret_nonmoving);

/* A collection is under way: closures are moving. */
bool generations_collecting(const struct generations *g);

/* Of a program that runs: its generations as they were read. */
struct heap_moment {
        const struct program *program;
        struct generations generations;
};

/* Whether a collection has begun or was there since; then what is read now does not fit what was read before. */
bool heap_moment_is_over(void *moment);

/* The same of major ones: until then what the oldest generation has stays where it is. */
bool heap_moment_is_past_major(void *moment);

/* How often all of them together were collected. */
uint64_t generations_collections(const struct generations *g);
