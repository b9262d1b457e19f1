/* SPDX-License-Identifier: BSD-3-Clause */
/* hits.c - a list, searched from its end: what was drawn last is on top. */
#include "client/console/draw/canvas.h"

void hits_add(struct hits *h, struct area area, struct hit hit)
{
        if (!h || h->n == HITS_MAX)
                return;
        hit.area = area;
        h->list[h->n++] = hit;
}

const struct hit *hits_at(const struct hits *h, int row, int column)
{
        for (size_t i = h->n; i > 0; i--) {
                const struct area *a = &h->list[i - 1].area;

                if (row >= a->row && row < a->row + a->height && column >= a->column && column < a->column + a->width)
                        return &h->list[i - 1];
        }
        return NULL;
}
