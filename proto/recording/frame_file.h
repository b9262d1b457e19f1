/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_file.h - reads the frames of one file of a recording, in order, up to its end or where it was cut. */
#ifndef HW_PROTO_RECORDING_FRAME_FILE_H
#define HW_PROTO_RECORDING_FRAME_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/recording/frame.h"

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

#endif
