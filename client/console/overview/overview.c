/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overview.c - one target on one screen.
 *
 * DESIGN: the screen is a list of sections, top to bottom. Each says how many
 * rows it needs at least and how many it would like, and draws itself into what
 * it gets. Rows are given out in passes: first every section's minimum (from
 * the top, if it fits; whole answers, within half of the screen), then what the
 * short sections would like, then blank rows between sections, then bands and
 * notes share the rest, two to one.
 */
#include "client/console/overview/sections.h"

#include <string.h>

#include "proto/base/array.h"

static const struct section sections[] = {
        { .least = 1, .most = 1, .draw = draw_identity },
        { .least = 3, .rows = headline_rows, .draw = draw_headline },
        { .least = 6, .whole = answers_whole_rows, .rows = answers_rows, .draw = draw_answers },
        { .least = 0, .rows = facts_rows, .draw = draw_facts },
        { .least = 4, .most = 5, .draw = draw_memory, .air = true },
        { .least = 0, .rows = resident_rows, .draw = draw_resident },
        { .least = 2, .rows = gc_rows, .draw = draw_gc, .air = true },
        { .least = 3, .rows = bands_rows, .draw = draw_bands, .air = true, .greedy = 2 },
        { .least = 2, .rows = notes_rows, .draw = draw_notes, .air = true, .greedy = 1 },
        { .least = 1, .rows = stream_rows, .draw = draw_stream, .air = true },
};

enum { SECTIONS = ARRAY_SIZE(sections) };

struct layout {
        int heights[SECTIONS], wishes[SECTIONS];
        bool air[SECTIONS]; /* a blank row above */
        int left;           /* rows not given out yet */
};

static int wanted(const struct section *of, const struct scene *s, const struct world_target *t, int width)
{
        return of->rows ? of->rows(s, t, width) : of->most;
}

static void assign_rows(struct layout *l, int i, int rows)
{
        if (rows > l->left)
                rows = l->left;
        if (rows > l->wishes[i] - l->heights[i])
                rows = l->wishes[i] - l->heights[i];
        if (rows > 0) {
                l->heights[i] += rows;
                l->left -= rows;
        }
}

static struct layout deal(const struct scene *s, const struct world_target *t, struct area area)
{
        struct layout l = { .left = area.height };

        for (int i = 0; i < SECTIONS; i++)
                l.wishes[i] = wanted(&sections[i], s, t, area.width);
        for (int i = 0; i < SECTIONS; i++) {
                int least = sections[i].whole ? sections[i].whole(s, t, area.width) : 0;

                least = least < area.height / 2 ? least : area.height / 2;
                least = least > sections[i].least ? least : sections[i].least;
                least = least < l.wishes[i] ? least : l.wishes[i];
                if (least <= l.left) /* less than its minimum would say nothing */
                        assign_rows(&l, i, least);
        }
        for (int i = 0; i < SECTIONS; i++) {
                if (!sections[i].greedy)
                        assign_rows(&l, i, l.wishes[i]);
        }
        const bool roomy = l.left >= SECTIONS;
        for (int i = 0; i < SECTIONS; i++) {
                l.air[i] = roomy && sections[i].air && l.wishes[i] > 0 && l.left > 0;
                l.left -= l.air[i];
        }
        /* Bands and notes share what is left until both have what they want. */
        int before;
        do {
                before = l.left;
                for (int i = 0; i < SECTIONS; i++)
                        assign_rows(&l, i, sections[i].greedy);
        } while (l.left > 0 && l.left < before);
        return l;
}

void draw_overview(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        struct layout l = deal(s, t, area);
        int row = 0;

        for (int i = 0; i < SECTIONS; i++) {
                struct area part = area_below(area, row + l.air[i]);

                part.height = l.heights[i];
                if (part.height > 0)
                        sections[i].draw(c, part, s, t);
                row += l.air[i] + l.heights[i];
        }
}

int overview_rows(const struct scene *s, const struct world_target *t, int width)
{
        int rows = 0;

        for (int i = 0; i < SECTIONS; i++)
                rows += wanted(&sections[i], s, t, width) + sections[i].air;
        return rows;
}
