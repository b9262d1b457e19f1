/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/rings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void rings_done(struct rings *r)
{
        free(r->cells);
        *r = (struct rings){ .cells = NULL };
}

void *rings_grow(const struct rings_shape *shape, struct rings *r, unsigned ring, unsigned place)
{
        assert(place < shape->most && shape->most % shape->grain == 0);
        unsigned places = (place / shape->grain + 1) * shape->grain, end = r->ends[ring];
        unsigned more = rings_begin(r, ring) + places * shape->size[ring] - end;
        unsigned char *cells = realloc(r->cells, rings_held(r) + more);

        if (!cells)
                return NULL;
        memmove(cells + end + more, cells + end, rings_held(r) - end);
        memset(cells + end, shape->fill, more);
        r->cells = cells;
        for (unsigned i = ring; i < RINGS_MAX; i++)
                r->ends[i] = (uint16_t)(r->ends[i] + more);
        return rings_at(shape, r, ring, place);
}

bool rings_are_sound(const struct rings_shape *shape, const struct rings *r)
{
        for (unsigned i = 0; i < RINGS_MAX; i++) {
                unsigned begin = rings_begin(r, i), bytes = r->ends[i] - begin, size = shape->size[i];

                if (r->ends[i] < begin || (i < shape->n ? bytes % size != 0 || bytes / size > shape->most : bytes > 0))
                        return false;
        }
        return true;
}
