/* SPDX-License-Identifier: BSD-3-Clause */
/* theme.h - colours. A band's fill differs from its neighbours' in hue, lightness and, in print, hatching. */
#ifndef HW_CLIENT_REPORT_THEME_H
#define HW_CLIENT_REPORT_THEME_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

struct colour {
        double red, green, blue;
};

struct theme {
        struct colour paper, ink, soft, grid, other, note;
        struct colour lines[3];
        bool hatched;
};

const struct theme *theme_of(int theme);

void theme_use(cairo_t *cr, struct colour c);

/* Of the n-th band, lowest first. */
struct colour theme_band(const struct theme *t, size_t n);

/* Hatches the clipped part of a box with the n-th of several patterns; the first is none. */
void theme_hatch(cairo_t *cr, size_t n, double x, double y, double width, double height);

#endif
