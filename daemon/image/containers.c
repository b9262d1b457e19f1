/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/image/containers.h"

#include <stdlib.h>
#include <string.h>

static const char too_many[] = "it has more of something than there can be";
static const char impossible[] = "numbers in it contradict each other";

/* -------------------------------------------------------------------- pool */

void image_pool(struct image *im, struct pool *p, struct pool shape, uint32_t most)
{
        const size_t object_bytes = shape.object_bytes;
        const unsigned chunk_shift = shape.chunk_shift;
        const size_t chunk = object_bytes << chunk_shift;
        uint32_t n = p->n_chunks, count = p->count;

        if (im->reads) {
                if (p->object_bytes != object_bytes || p->chunk_shift != chunk_shift || count > most ||
                    n > (most >> chunk_shift) + 2 || count > (uint64_t)n << chunk_shift)
                        image_refuse(im, too_many);
                pool_init(p, object_bytes, chunk_shift);
                p->chunks = image_fine(im) && n ? calloc(n, sizeof(*p->chunks)) : NULL;
                if (n && image_fine(im) && !p->chunks)
                        image_refuse(im, "out of memory");
                p->room = p->chunks ? n : 0;
        }
        for (uint32_t i = 0; i < n && image_fine(im); i++) {
                uint64_t first = (uint64_t)i << chunk_shift, left = count > first ? count - first : 0;
                size_t used = (left < 1u << chunk_shift ? (size_t)left : (size_t)1 << chunk_shift) * object_bytes;
                image_block(im, &p->chunks[i], used, chunk);
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
        image_plain(im, &n, sizeof(n));
        image_plain(im, &current, sizeof(current));
        if (im->reads)
                arena_init(a, max_bytes);
        for (uint32_t i = 1; i <= n && image_fine(im); i++) {
                struct arena_block head = { 0 };
                if (!im->reads)
                        head = **end;
                image_plain(im, &head, sizeof(head));
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

/* Whether every slot leads into a piece. */
static bool slots_are_sound(const struct strings *s)
{
        uint32_t used = 0;

        for (uint32_t i = 0; i < s->n_slots; i++) {
                uint32_t place = s->slots[i].place;
                used += place != 0;
                if (place && (place / STRINGS_PIECE_BYTES > s->n_pieces || place < STRINGS_PIECE_BYTES ||
                              place % STRINGS_PIECE_BYTES < sizeof(struct strings_head)))
                        return false;
        }
        return used == s->n_used && s->piece <= s->n_pieces && s->used <= STRINGS_PIECE_BYTES;
}

void image_strings(struct image *im, struct strings *s, size_t max_bytes)
{
        uint32_t n_slots = s->n_slots, n_pieces = s->n_pieces + (s->pieces_room > 0);

        image_arena(im, &s->arena, max_bytes);
        if (im->reads && ((n_slots & (n_slots - 1)) != 0 || s->n_used > n_slots / 4 * 3))
                image_refuse(im, impossible);
        image_array(im, &s->slots, &n_slots, &s->n_slots, sizeof(*s->slots), UINT32_MAX / 2);
        image_array(im, &s->pieces, &n_pieces, &s->pieces_room, sizeof(*s->pieces), UINT32_MAX / STRINGS_PIECE_BYTES);
        if (!im->reads)
                return;
        if (image_fine(im) && s->pieces)
                s->pieces[0] = NULL;
        for (uint32_t i = 1; image_fine(im) && i <= s->n_pieces; i++)
                image_pointer(im, &s->pieces[i], 1);
        if (image_fine(im) && !slots_are_sound(s))
                image_refuse(im, impossible);
        if (!image_fine(im))
                strings_done(s);
}

/* ---------------------------------------------------------- values over time */

static bool ring_is_sound(const struct pyramid_ring *r, uint64_t width_ns, uint32_t most)
{
        if (r->capacity > most || r->room > most || r->n_cells > r->room || r->n_spare > r->n_cells)
                return false;
        return !r->newest ||
               (r->newest <= r->n_cells && r->capacity > 0 && r->first <= r->last && r->last - r->first < r->capacity &&
                r->newest_ns / width_ns - r->first <= r->last - r->first);
}

/* Each cell belongs to one interval or is spare. `seen`: room for all of them, all false. */
static bool cells_are_sound(const struct pyramid_ring *r, bool *seen)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < r->capacity + r->n_spare; i++) {
                uint16_t number = i < r->capacity ? r->places[i] : r->spare[i - r->capacity];
                if (!number && i < r->capacity)
                        continue;
                if (!number || number > r->n_cells || seen[number - 1])
                        return false;
                seen[number - 1] = true;
                n++;
        }
        return n == r->n_cells;
}

static void check_cells(struct image *im, struct pyramid_ring *r)
{
        bool *seen = calloc(r->n_cells + 1, sizeof(*seen));

        if (!seen || !cells_are_sound(r, seen))
                image_refuse(im, impossible);
        free(seen);
}

static void image_ring(struct image *im, struct pyramid_ring *r, const struct pyramid_shape *shape, uint32_t most,
                       void (*each)(struct image *im, void *cell))
{
        uint32_t n = r->capacity, n_spare = r->n_spare, room = r->room;
        size_t cell_size = pyramid_kept_bytes(shape), open = r->open && shape->packing.size ? shape->cell.size : 0;

        image_array(im, &r->places, &n, &r->capacity, sizeof(*r->places), most);
        image_array(im, &r->spare, &n_spare, &room, sizeof(*r->spare), most);
        image_array(im, &r->cells, &r->n_cells, &r->room, cell_size, most);
        image_block(im, &r->open, open, open);
        r->n_spare = n_spare;
        for (uint32_t k = 0; each && k < r->n_cells; k++)
                each(im, r->cells + k * cell_size);
        if (im->reads && image_fine(im))
                check_cells(im, r);
        if (im->reads && (shape->packing.size && r->newest) && !r->open)
                image_refuse(im, impossible);
        if (im->reads && !image_fine(im))
                r->newest = 0;
}

void image_pyramid(struct image *im, struct pyramid *p, const struct pyramid_shape *shape,
                   void (*each)(struct image *im, void *cell))
{
        for (unsigned i = 0; i < PYRAMID_LEVELS; i++) {
                struct pyramid_ring *r = &p->levels[i];
                uint32_t most = i < shape->n_levels ? shape->levels[i].most : 0;
                if (im->reads && !ring_is_sound(r, most ? shape->levels[i].width_ns : 1, most))
                        image_refuse(im, impossible);
                image_ring(im, r, shape, most, each);
        }
}

void image_sketch(struct image *im, struct sketch *s, unsigned n_cells)
{
        uint32_t n = s->n, room = s->room;

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
