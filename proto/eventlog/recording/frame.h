/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.h - the unit in which a recording is written, read and lost.
 *
 * A frame is an index, then whole blocks of one eventlog, compressed by zstd with
 * a checksum. The index says what is in it, and is what zstd calls a skippable
 * frame, so `zstd -dc` reads the files of a recording as they are:
 *
 *     u32 0x184d2a57, u32 size of the rest      little-endian, as all of it
 *     "HWF2"  u32 stored  u32 raw  u32 ordinal
 *     u64 begin_ns  u64 end_ns  u64 wall_ns  u64 lost_bytes
 *     u64 offset  u32 lost_frames  u32 check
 *     the zstd frame: `stored` bytes
 *
 * A file that was cut anywhere is good up to its last whole frame. Pure but
 * for the memory that it is given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEAD_BYTES 72u

struct frame_head {
        uint32_t stored;      /* bytes of the zstd frame after the index */
        uint32_t raw;         /* bytes of eventlog in it */
        uint32_t ordinal;     /* among the frames of the run's segments, from 1; of definitions: that of the frame which
                                 has them too, 0: none has */
        uint64_t begin_ns;    /* event time: the earliest begin of a block */
        uint64_t end_ns;      /* and the latest end */
        uint64_t wall_ns;     /* Unix time at which the last byte was read */
        uint64_t lost_bytes;  /* of eventlog, missing between the previous frame and this one, as far as known */
        uint64_t offset;      /* in the stream, after its last event; of definitions: 0 */
        uint32_t lost_frames; /* how often something is missing there; 0: nothing is */
};

struct frame_packer;

/* NULL when out of memory. A packer belongs to one thread. */
struct frame_packer *frame_packer_new(void);
void frame_packer_destroy(struct frame_packer **p);

/*
 * Packs head->raw bytes of `blocks`, at most FRAME_RAW_MAX; head->stored is ignored. Returns the whole frame, owned by
 * the packer and valid until the next call, with its size in *ret_size; NULL: out of memory.
 */
const uint8_t *frame_pack(struct frame_packer *p, const struct frame_head *head, const uint8_t *blocks,
                          size_t *ret_size);

/* False: these FRAME_HEAD_BYTES are not an index, or one with impossible values. */
bool frame_head_read(const uint8_t *bytes, struct frame_head *ret_head);

struct frame_unpacker;

struct frame_unpacker *frame_unpacker_new(void);
void frame_unpacker_destroy(struct frame_unpacker **u);

/* The blocks of a frame: head->raw bytes, valid until the next call. NULL: damaged, or out of memory. */
uint8_t *frame_unpack(struct frame_unpacker *u, const struct frame_head *head, const uint8_t *stored);

/* frame_file.c: reads the frames of one file of a recording, in order, up to its end or where it was cut. */

struct frame_file {
        int fd; /* -1: closed */
        uint8_t *stored;
        struct frame_head head; /* of the current frame */
        bool passed;            /* its content is read or skipped */
        uint64_t at;            /* offset after the current frame */
};

/* Takes over a descriptor, to be read from its beginning. Returns 0, or -errno with the descriptor closed. */
int frame_file_adopt(struct frame_file *f, int fd);

/* Opens `name` in the directory; a regular file only, links are not followed. Returns 0 or -errno. */
int frame_file_open(struct frame_file *f, int directory, const char *name);

/* Frees all; may be called on a closed one. */
void frame_file_close(struct frame_file *f);

/* The next frame's index into f->head. False at the end, or where the file was cut inside of it or damaged. */
bool frame_file_next(struct frame_file *f);

/* The blocks of the current frame, once, owned by the unpacker; NULL: cut or damaged, and nothing comes after it. */
uint8_t *frame_file_blocks(struct frame_file *f, struct frame_unpacker *unpacker);
