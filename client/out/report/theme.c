/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * theme.c - DESIGN: hues are those of Okabe and Ito (2008, jfly.uni-koeln.de/color), distinguishable with any
 * colour vision; each further round of them is lighter. In print, bands are alternately light and dark grey and
 * hatched in five ways.
 */
#include "client/out/report/plot.h"

#define HUES    7u
#define HATCHES 5u
#define STEP    6.0 /* between lines of a hatching */

static const struct colour hues[HUES] = {
        { 0.000, 0.447, 0.698 }, /* blue */
        { 0.902, 0.624, 0.000 }, /* orange */
        { 0.000, 0.620, 0.451 }, /* bluish green */
        { 0.800, 0.475, 0.655 }, /* reddish purple */
        { 0.337, 0.706, 0.914 }, /* sky blue */
        { 0.835, 0.369, 0.000 }, /* vermilion */
        { 0.941, 0.894, 0.259 }, /* yellow */
};

static const struct theme themes[] = {
        { .paper = { 1, 1, 1 },
          .ink = { 0.10, 0.13, 0.17 },
          .soft = { 0.36, 0.41, 0.47 },
          .grid = { 0.87, 0.89, 0.91 },
          .other = { 0.78, 0.80, 0.82 },
          .note = { 0.45, 0.20, 0.55 },
          .lines = { { 0.05, 0.05, 0.05 }, { 0.70, 0.10, 0.15 }, { 0.30, 0.34, 0.40 } } },
        { .paper = { 0.08, 0.10, 0.13 },
          .ink = { 0.92, 0.94, 0.96 },
          .soft = { 0.66, 0.71, 0.76 },
          .grid = { 0.20, 0.24, 0.28 },
          .other = { 0.36, 0.40, 0.44 },
          .note = { 0.82, 0.68, 0.95 },
          .lines = { { 1, 1, 1 }, { 1.00, 0.55, 0.55 }, { 0.75, 0.80, 0.86 } } },
        { .paper = { 1, 1, 1 },
          .ink = { 0, 0, 0 },
          .soft = { 0.25, 0.25, 0.25 },
          .grid = { 0.85, 0.85, 0.85 },
          .other = { 0.92, 0.92, 0.92 },
          .note = { 0, 0, 0 },
          .lines = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } },
          .hatched = true },
};

const struct theme *theme_of(int theme)
{
        return &themes[theme];
}

void theme_use(cairo_t *cr, struct colour c)
{
        cairo_set_source_rgb(cr, c.red, c.green, c.blue);
}

static double towards(double from, double to, double share)
{
        return from + (to - from) * share;
}

struct colour theme_band(const struct theme *t, size_t n)
{
        static const double greys[] = { 0.72, 0.90, 0.80, 0.96 };

        if (t->hatched) {
                double g = greys[n % 4];
                return (struct colour){ g, g, g };
        }
        const struct colour *hue = &hues[n % HUES];
        double share = (double)(n / HUES % 4) * 0.22;
        double to = t->paper.red > 0.5 ? 1 : 0.85;
        return (struct colour){ towards(hue->red, to, share), towards(hue->green, to, share),
                                towards(hue->blue, to, share) };
}

void theme_hatch(cairo_t *cr, size_t n, double x, double y, double width, double height)
{
        size_t way = n % HATCHES;

        cairo_set_source_rgb(cr, 0.35, 0.35, 0.35);
        cairo_set_line_width(cr, 0.5);
        for (double at = -height; way && at < width; at += STEP) {
                if (way == 1 || way == 3) { /* rising, crossed */
                        cairo_move_to(cr, x + at, y + height);
                        cairo_line_to(cr, x + at + height, y);
                }
                if (way == 2 || way == 3) { /* falling */
                        cairo_move_to(cr, x + at, y);
                        cairo_line_to(cr, x + at + height, y + height);
                }
                if (way == 4 && at + height < height) { /* level */
                        cairo_move_to(cr, x, y + at + height);
                        cairo_line_to(cr, x + width, y + at + height);
                }
        }
        cairo_stroke(cr);
}
