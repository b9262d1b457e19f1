/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the hash decides nearly always, so a probe rarely touches the text
 * itself. Texts lie end to end in pieces of memory: names of info tables are
 * short and many, and rounding each up would cost a third of their memory. The
 * id of a text is its place in 32 bits, piece and offset: 100,000 info tables
 * have 200,000 texts and half a million slots. A long text has a piece of its
 * own.
 */
#include "proto/base/strings.h"

#include <stdlib.h>

#include "proto/base/hash.h"

#define FIRST_PIECES 8u
#define MOST_PIECES  (UINT32_MAX / STRINGS_PIECE_BYTES)
#define LONG_BYTES   (STRINGS_PIECE_BYTES / 4)
#define HEAD_BYTES   ((uint32_t)sizeof(struct strings_head))

void strings_init(struct strings *s, size_t max_bytes)
{
        *s = (struct strings){ .seed = hash_seed(s) };
        arena_init(&s->arena, max_bytes);
}

void strings_done(struct strings *s)
{
        idtable_done(&s->places);
        free(s->pieces);
        arena_done(&s->arena);
        strings_init(s, s->arena.max_bytes);
}

static char *text_at(const struct strings *s, uint32_t place)
{
        return s->pieces[place / STRINGS_PIECE_BYTES] + place % STRINGS_PIECE_BYTES;
}

static bool is_text(const char *text, const void *bytes, uint32_t size)
{
        return strings_size(text) == size && (!size || !memcmp(text, bytes, size));
}

/* NULL: it is not there. */
static const char *find_text(const struct strings *s, const void *bytes, uint32_t size, uint64_t hash)
{
        uint32_t at = idtable_start(&s->places, hash), place;

        while ((place = idtable_next(&s->places, hash, &at)))
                if (is_text(text_at(s, place), bytes, size))
                        return text_at(s, place);
        return NULL;
}

/* A new piece of `size` bytes: its number, from 1; 0 when out of memory. */
static uint32_t add_piece(struct strings *s, size_t size)
{
        if (s->n_pieces + 1 >= s->pieces_room) {
                uint32_t room = s->pieces_room ? s->pieces_room * 2 : FIRST_PIECES;
                char **pieces = room <= MOST_PIECES ? realloc(s->pieces, room * sizeof(*pieces)) : NULL;
                if (!pieces)
                        return 0;
                s->pieces = pieces;
                s->pieces_room = room;
        }
        char *piece = arena_alloc(&s->arena, size);
        if (!piece)
                return 0;
        s->pieces[++s->n_pieces] = piece;
        return s->n_pieces;
}

/* A place for a text of `size` bytes, after its head; 0 when out of memory. */
static uint32_t find_room(struct strings *s, uint32_t size)
{
        uint32_t need = HEAD_BYTES + size + 1;

        if (need > LONG_BYTES) {
                uint32_t own = add_piece(s, need);
                return own ? own * STRINGS_PIECE_BYTES + HEAD_BYTES : 0;
        }
        if (!s->piece || need > STRINGS_PIECE_BYTES - s->used) {
                uint32_t piece = add_piece(s, STRINGS_PIECE_BYTES);
                if (!piece)
                        return 0;
                s->piece = piece;
                s->used = 0;
        }
        s->used += need;
        return s->piece * STRINGS_PIECE_BYTES + s->used - size - 1;
}

/* A copy of the text: its place; 0 when out of memory. */
static uint32_t copy_bytes(struct strings *s, const void *bytes, uint32_t size)
{
        struct strings_head head = { .size = size & INT32_MAX };
        uint32_t place = find_room(s, size);

        if (!place)
                return 0;
        char *text = text_at(s, place);
        memcpy(text - HEAD_BYTES, &head, HEAD_BYTES);
        if (size)
                memcpy(text, bytes, size);
        text[size] = '\0';
        return place;
}

/* A text ends at its first NUL; one of no bytes may be NULL. */
static size_t text_size(const void *bytes, size_t size)
{
        return size > 0 ? strnlen(bytes, size) : 0;
}

const char *strings_find(const struct strings *s, const void *bytes, size_t size)
{
        size = text_size(bytes, size);
        if (size >= INT32_MAX - HEAD_BYTES)
                return NULL;
        return find_text(s, bytes, (uint32_t)size, hash_bytes(bytes, size, s->seed));
}

const char *strings_intern(struct strings *s, const void *bytes, size_t size)
{
        size = text_size(bytes, size);
        if (size >= INT32_MAX - HEAD_BYTES)
                return NULL;
        const uint64_t hash = hash_bytes(bytes, size, s->seed);
        const char *known = find_text(s, bytes, (uint32_t)size, hash);
        if (known)
                return known;
        const uint32_t place = copy_bytes(s, bytes, (uint32_t)size);
        return place && idtable_add(&s->places, hash, place) == 0 ? text_at(s, place) : NULL;
}

size_t strings_held(const struct strings *s)
{
        return s->arena.held_bytes + idtable_held(&s->places) + s->pieces_room * sizeof(*s->pieces);
}
