/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_batch.h - updates printed once, collected until they go out to all
 * browsers that want them. Knows nothing of connections.
 */
#ifndef HW_CLIENT_WEB_UPDATE_BATCH_H
#define HW_CLIENT_WEB_UPDATE_BATCH_H

#include "client/api/state_json.h"

struct batched_update;

/* Zeroed by update_batch_init; freed by update_batch_clear, after which it is empty and can be used again. */
struct update_batch {
        struct batched_update *first, **last;
        size_t bytes; /* of all texts */
};

void update_batch_init(struct update_batch *p);
void update_batch_clear(struct update_batch *p);

/* Prints an update and adds it; of trends also the part for browsers that do not want the trends of bands.
   False: out of memory, and some browsers may miss it. */
bool update_batch_add(struct update_batch *p, size_t daemon, const Hw__Update *update);

/* A printed element about a target: for browsers that want its details, or (`instead`) for all others. */
bool update_batch_add_text(struct update_batch *p, size_t daemon, const char *target, const char *text, size_t size,
                           bool instead);

/* Writes what `detail` wants as a JSON array. False: there is nothing in it, and nothing was written. */
bool update_batch_print(const struct update_batch *p, struct json_out *j, const struct detail *detail,
                        const struct world *world);

#endif
