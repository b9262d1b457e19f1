/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * definitions.h - the definitions of an image's types, and structs of one version as those of another.
 *
 * DESIGN: structs are in an image as they were in memory, and after them the definition of each type that occurs: so it
 * costs the watched second nothing, and the reader, if its own type is defined alike, one copy. Else each member is
 * found by its name: a number keeps its value in another width, an enumerator and the items of an array that an enum
 * counts keep their names, what the writer did not have stays as it was in the reader's object. Pure.
 */
#ifndef HW_DAEMON_IMAGE_DEFINITIONS_H
#define HW_DAEMON_IMAGE_DEFINITIONS_H

#include <stdbool.h>

#include "daemon/image/image.h"

struct image_plan; /* how a type of the writer's becomes one of the reader's */

/* Writing: the number of a type in this image, defined at its end. */
uint32_t definitions_number(struct image *im, const struct image_type *type);

/* Writing: appends the definitions of all types that have a number. */
void definitions_write(struct image *im);

/* Reading: the definitions are at im->at, up to im->n. */
void definitions_read(struct image *im);
void definitions_done(struct image *im);

/* Reading: the plan for a type by the writer's number; NULL after an error: it is not a type of that name. */
const struct image_plan *definitions_plan(struct image *im, uint32_t number, const struct image_type *own);

/* The size that it had; whether it is the reader's type as it is. */
uint32_t plan_size(const struct image_plan *plan);
bool plan_is_copy(const struct image_plan *plan);

/* Converts one struct, or the span of one. */
void plan_apply(struct image *im, const struct image_plan *plan, const uint8_t *from, uint8_t *to);

#endif
