/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h - updates printed once, gathered until they go out to all browsers
 * that want them. Knows no connection.
 */
#ifndef HW_CLIENT_WEB_PIECES_H
#define HW_CLIENT_WEB_PIECES_H

#include "client/api/state_json.h"

struct piece;

/* Zeroed by pieces_init; freed by pieces_clear, after which it is empty and can be used again. */
struct pieces {
        struct piece *first, **last;
        size_t bytes; /* of all texts */
};

void pieces_init(struct pieces *p);
void pieces_clear(struct pieces *p);

/* Prints an update and adds it; of trends also the part that those get who do not want the trends of bands.
   False: out of memory, and some browser may miss it. */
bool pieces_add(struct pieces *p, size_t daemon, const Hw__Update *update);

/* A printed element about a target: for those who want its large messages, or (`instead`) for all others. */
bool pieces_add_text(struct pieces *p, size_t daemon, const char *target, const char *text, size_t size, bool instead);

/* Writes what `detail` wants as a JSON array. False: there is nothing in it, and nothing was written. */
bool pieces_print(const struct pieces *p, struct json_out *j, const struct detail *detail, const struct world *v);

#endif
