/* SPDX-License-Identifier: BSD-3-Clause */
/* containers.h - images of the containers of proto/base. After an error each is empty. Pure. */
#pragma once

#include "daemon/model/image/image.h"
#include "heapwatch/eventlog.h"
#include "proto/base/arena.h"
#include "proto/facts/fold.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/facts/pyramid.h"
#include "proto/base/sketch.h"
#include "proto/base/strings.h"

/* At most `most` objects of a type; `shape` is a pool of the same object and chunk size, and may be *p itself. */
void image_pool(struct image *im, struct pool *p, struct pool shape, const struct image_type *type, uint32_t most);

/* Ids up to that of the newest object. Comes after the pool. */
void image_idtable(struct image *im, struct idtable *t, uint32_t newest);

void image_arena(struct image *im, struct arena *a, size_t max_bytes);
void image_strings(struct image *im, struct strings *s, size_t max_bytes);

/* Of cells of a type. `each` walks what a cell owns; NULL: nothing. */
void image_pyramid(struct image *im, struct pyramid *p, const struct pyramid_shape *shape,
                   const struct image_type *type, void (*each)(struct image *im, void *cell));

/* Cell numbers must be below n_cells. */
void image_sketch(struct image *im, struct sketch *s, unsigned n_cells);

/* Reading: sets where its cells are now. */
void image_fold_cells(struct image *im, struct fold *f, const struct fold_shape *shape);

/* decoder.c: the image of a decoder that has consumed all of its input, to go on inside the stream. Pure. */

void image_decoder(struct image *im, struct hw_eventlog *log);

/* An unknown number of bytes is missing before the next input: the decoder resyncs. */
void decoder_gap(struct hw_eventlog *log);
