/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/image/containers.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/model/image/containers_layouts.inc"

static const char too_many[] = "it has more of something than there can be";
static const char impossible[] = "numbers in it contradict each other";

/* -------------------------------------------------------------------- pool */

void image_pool(struct image *im, struct pool *p, struct pool shape, const struct image_type *type, uint32_t most)
{
        const unsigned chunk_shift = shape.chunk_shift;
        const uint32_t chunk = UINT32_C(1) << chunk_shift;
        uint32_t n = p->n_chunks, count = p->count;

        if (im->reads) {
                if (p->chunk_shift != chunk_shift || count > most || n > (most >> chunk_shift) + 2 ||
                    count > (uint64_t)n << chunk_shift)
                        image_refuse(im, too_many);
                pool_init(p, shape.object_bytes, chunk_shift);
                p->chunks = image_fine(im) && n ? calloc(n, sizeof(*p->chunks)) : NULL;
                if (n && image_fine(im) && !p->chunks)
                        image_refuse(im, "out of memory");
                p->room = p->chunks ? n : 0;
        }
        for (uint32_t i = 0; i < n && image_fine(im); i++) {
                uint64_t first = (uint64_t)i << chunk_shift, left = count > first ? count - first : 0;
                image_structs(im, &p->chunks[i], left < chunk ? (uint32_t)left : chunk, chunk, type);
                if (im->reads && image_fine(im))
                        p->n_chunks++;
        }
        if (im->reads && image_fine(im))
                p->count = count;
}

void image_idtable(struct image *im, struct idtable *t, uint32_t newest)
{
        uint32_t used = 0, n = t->n_slots;

        if (im->reads && ((n & (n - 1)) != 0 || t->n_used > n / 4 * 3))
                image_refuse(im, impossible);
        image_array(im, &t->slots, &n, &t->n_slots, sizeof(*t->slots), UINT32_MAX / 2);
        if (!im->reads)
                return;
        for (uint32_t i = 0; i < t->n_slots; i++) {
                used += t->slots[i].id != 0;
                if (t->slots[i].id > newest)
                        image_refuse(im, impossible);
        }
        if (used != t->n_used)
                image_refuse(im, impossible);
        if (!image_fine(im))
                idtable_done(t);
}

/* ------------------------------------------------------------------- texts */

void image_arena(struct image *im, struct arena *a, size_t max_bytes)
{
        struct arena_block *b = a->first, **end = &a->first;
        uint32_t n = 0, current = 0;

        for (b = im->reads ? NULL : a->first; b; b = b->next) {
                n++;
                if (b == a->current)
                        current = n;
        }
        image_expect(im, &(uint64_t){ sizeof(struct arena_block) }, sizeof(uint64_t));
        image_plain(im, &n, sizeof(n));
        image_plain(im, &current, sizeof(current));
        if (im->reads)
                arena_init(a, max_bytes);
        for (uint32_t i = 1; i <= n && image_fine(im); i++) {
                struct arena_block head = { 0 };
                if (!im->reads)
                        head = **end;
                image_struct(im, &head, IMAGE_TYPE(arena_block));
                if (im->reads && (head.size > IMAGE_BYTES_MAX || head.used > head.size))
                        image_refuse(im, impossible);
                image_block(im, end, sizeof(head) + head.used, sizeof(head) + head.size);
                if (!*end)
                        break;
                if (im->reads) {
                        (*end)->next = NULL;
                        (*end)->size = head.size;
                        (*end)->used = head.used;
                        a->held_bytes += sizeof(head) + head.size;
                        if (i == current)
                                a->current = *end;
                }
                end = &(*end)->next;
        }
        if (im->reads && image_fine(im) && (a->first != NULL) != (a->current != NULL))
                image_refuse(im, impossible);
        if (im->reads && !image_fine(im))
                arena_done(a);
}

/* Whether every place is in a piece. */
static bool places_are_sound(const struct strings *s)
{
        for (uint32_t i = 0; i < s->places.n_slots; i++) {
                uint32_t place = s->places.slots[i].id;
                if (place && (place / STRINGS_PIECE_BYTES > s->n_pieces || place < STRINGS_PIECE_BYTES ||
                              place % STRINGS_PIECE_BYTES < sizeof(struct strings_head)))
                        return false;
        }
        return s->piece <= s->n_pieces && s->used <= STRINGS_PIECE_BYTES;
}

void image_strings(struct image *im, struct strings *s, size_t max_bytes)
{
        static const uint32_t form[] = { STRINGS_PIECE_BYTES, sizeof(struct strings_head) };
        uint32_t n_pieces = s->n_pieces + (s->pieces_room > 0);

        image_expect(im, form, sizeof(form));
        image_arena(im, &s->arena, max_bytes);
        image_idtable(im, &s->places, UINT32_MAX);
        image_array(im, &s->pieces, &n_pieces, &s->pieces_room, sizeof(*s->pieces), UINT32_MAX / STRINGS_PIECE_BYTES);
        if (!im->reads)
                return;
        if (image_fine(im) && s->pieces)
                s->pieces[0] = NULL;
        for (uint32_t i = 1; image_fine(im) && i <= s->n_pieces; i++)
                image_pointer(im, &s->pieces[i], 1);
        if (image_fine(im) && !places_are_sound(s))
                image_refuse(im, impossible);
        if (!image_fine(im))
                strings_done(s);
}

/* ---------------------------------------------------------- values over time */

static bool ring_is_sound(const struct pyramid_ring *r, uint64_t width_ns, uint32_t most)
{
        for (unsigned i = 0; i < 2; i++)
                if (r->stores[i].n > r->stores[i].room || r->stores[i].room > most)
                        return false;
        return r->capacity <= most &&
               (!r->in_use || (r->capacity > 0 && r->first <= r->last && r->last - r->first < r->capacity &&
                               r->newest_ns / width_ns - r->first <= r->last - r->first));
}

/* Each packed cell belongs to one interval or is spare. `seen`: room for all of a store, all false. */
static bool cells_are_sound(const struct pyramid_ring *r, const struct pyramid_shape *shape, bool small, bool *seen)
{
        const struct pyramid_store *s = &r->stores[small];

        for (uint32_t i = 0; i < r->capacity; i++) {
                uint16_t place = r->places[i], number = place / 2;
                if (!place || place == PYRAMID_OPEN || (place & 1) != small)
                        continue;
                if (!number || number > s->n || seen[number])
                        return false;
                seen[number] = true;
        }
        /* The cells of a store that no interval has are its spare ones. `seen`: those that one has, by number. */
        size_t size = shape->packing.sizes[small];
        uint16_t spare = s->spare, n = 0;

        while (spare && spare <= s->n && !seen[spare]) {
                seen[spare] = true;
                memcpy(&spare, s->cells + (size_t)(spare - 1) * size, sizeof(spare));
        }
        for (uint32_t number = 1; number <= s->n; number++)
                n = (uint16_t)(n + seen[number]);
        return !spare && n == s->n;
}

static void image_packed(struct image *im, struct pyramid_ring *r, const struct pyramid_shape *shape,
                         const struct image_type *type, uint64_t width_ns, uint32_t most)
{
        uint32_t n = r->capacity, open = r->open ? 1 : 0;

        image_array(im, &r->places, &n, &r->capacity, sizeof(*r->places), most);
        for (unsigned small = 0; small < 2; small++) {
                struct pyramid_store *s = &r->stores[small];
                uint32_t n_cells = s->n, room = s->room;

                image_array(im, &s->cells, &n_cells, &room, shape->packing.sizes[small], PYRAMID_RING);
                s->n = (uint16_t)n_cells;
                s->room = (uint16_t)room;
        }
        image_structs(im, &r->open, open, open, type);
        if (im->reads && image_fine(im)) {
                uint32_t n_open = 0;

                for (uint32_t i = 0; i < r->capacity; i++)
                        n_open += r->places[i] == PYRAMID_OPEN;
                /* Only the interval of the newest sample is open. */
                bool sound = n_open == r->in_use &&
                             (!n_open || (r->open && r->places[r->newest_ns / width_ns % r->capacity] == PYRAMID_OPEN));
                for (unsigned small = 0; small < 2 && sound; small++) {
                        bool *seen = calloc(r->stores[small].n + 1u, sizeof(*seen));
                        sound = seen && cells_are_sound(r, shape, small, seen);
                        free(seen);
                }
                if (!sound)
                        image_refuse(im, impossible);
        }
}

static void image_plain_cells(struct image *im, struct pyramid_ring *r, const struct pyramid_shape *shape,
                              const struct image_type *type, uint64_t width_ns, uint32_t most,
                              void (*each)(struct image *im, void *cell))
{
        uint32_t n = r->capacity;

        image_struct_array(im, &r->cells, &n, &r->capacity, type, most);
        for (uint32_t k = 0; each && k < r->capacity; k++)
                each(im, r->cells + k * shape->cell.size);
        if (im->reads)
                r->open = r->capacity ? r->cells + r->newest_ns / width_ns % r->capacity * shape->cell.size : NULL;
}

void image_pyramid(struct image *im, struct pyramid *p, const struct pyramid_shape *shape,
                   const struct image_type *type, void (*each)(struct image *im, void *cell))
{
        image_expect(im, shape->levels, sizeof(shape->levels));
        for (unsigned i = 0; i < PYRAMID_LEVELS; i++) {
                struct pyramid_ring *r = &p->levels[i];
                uint32_t most = i < shape->n_levels ? shape->levels[i].most : 0;
                uint64_t width_ns = most ? shape->levels[i].width_ns : 1;
                if (im->reads && !ring_is_sound(r, width_ns, most))
                        image_refuse(im, impossible);
                if (pyramid_packs(shape))
                        image_packed(im, r, shape, type, width_ns, most);
                else
                        image_plain_cells(im, r, shape, type, width_ns, most, each);
                if (im->reads && !image_fine(im))
                        r->in_use = false;
        }
}

void image_sketch(struct image *im, struct sketch *s, unsigned n_cells)
{
        uint32_t n = s->n, room = s->room;

        image_expect(im, &n_cells, sizeof(n_cells));
        image_array(im, &s->counts, &n, &room, sizeof(*s->counts), UINT16_MAX);
        if (!im->reads)
                return;
        s->n = (uint16_t)n;
        s->room = (uint16_t)room;
        for (uint32_t i = 0; i < n; i++)
                if (s->counts[i].cell >= n_cells)
                        image_refuse(im, impossible);
        if (s->newest > s->n)
                image_refuse(im, impossible);
}

void image_fold_cells(struct image *im, struct fold *f, const struct fold_shape *shape)
{
        if (f->n > shape->capacity || f->newest >= shape->capacity)
                image_refuse(im, impossible);
        image_pointer(im, &f->cells, ((size_t)(shape->capacity - 1) * shape->stride + 1) * shape->cell.size);
}
