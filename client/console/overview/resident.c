/* SPDX-License-Identifier: BSD-3-Clause */
/* resident.c - what resident memory is made of: a bar, and below it each part with its amount. */
#include "client/console/overview/sections.h"

#include <stdio.h>

#include "heapwatch/text.h"
#include "proto/base/utf8.h"
#include "proto/wire/resident_parts.h"

enum { LABEL = 8, PIECES = RESIDENT_PARTS_N + 1, GAP = 2 };

/* One part, as it is drawn. */
struct piece {
        const char *glyph; /* one column wide */
        enum tint tint;
        uint64_t bytes;
        char text[SHORT_TEXT + 32 + WORLD_AGE_TEXT];
};

static const struct {
        const char *glyph, *ascii;
        enum tint tint;
} looks[PIECES] = {
        { "█", "#", TINT_LINE_1 }, { "▓", "=", TINT_LINE_2 }, { "▒", "%", TINT_LINE_3 }, { "░", ".", TINT_DIM },
        { "▪", "o", TINT_LINE_4 }, { "×", "x", TINT_MARK },   { "?", "?", TINT_DIM },
};

static const Hw__Resident *resident_of(const struct world_target *t)
{
        const Hw__Resident *r = t->heap ? t->heap->resident : NULL;

        return r && r->has_rss_bytes && r->rss_bytes ? r : NULL;
}

static void put_piece(struct piece *p, size_t look, bool ascii, const char *name, uint64_t bytes, const char *age)
{
        char text[SHORT_TEXT];

        p->glyph = ascii ? looks[look].ascii : looks[look].glyph;
        p->tint = looks[look].tint;
        p->bytes = bytes;
        (void)snprintf(p->text, sizeof(p->text), "%s %.24s%s", name, hw_bytes_text(text, sizeof(text), (double)bytes),
                       age);
}

/* Parts that are not known are one piece. */
static size_t find_pieces(const struct world_target *t, bool ascii, struct piece pieces[PIECES])
{
        const Hw__Resident *r = t->heap->resident;
        char age[WORLD_AGE_TEXT];
        uint64_t bytes;
        size_t n = 0;

        for (size_t i = 0; i < RESIDENT_PARTS_N; i++)
                if (resident_part_bytes(r, i, &bytes))
                        put_piece(&pieces[n++], i, ascii, resident_part_name(i), bytes,
                                  i == 0 ? world_parts_age(age, t) : "");
        if (r->has_unknown_bytes)
                put_piece(&pieces[n++], RESIDENT_PARTS_N, ascii, "not known", r->unknown_bytes, "");
        return n;
}

/* Draws the parts one after the other from row 1 on; `c` NULL: only counts the rows. */
static int list_pieces(struct canvas *c, struct area area, const struct piece *pieces, size_t n)
{
        int row = 1, column = 1 + LABEL;

        for (size_t i = 0; i < n; i++) {
                int width = 2 + text_columns(pieces[i].text);

                if (column > 1 + LABEL && column + width > area.width) {
                        row++;
                        column = 1 + LABEL;
                }
                if (c && row < area.height) {
                        (void)canvas_put(c, area, row, column, 1, pieces[i].tint, pieces[i].glyph);
                        (void)canvas_put(c, area, row, column + 2, area.width - column - 2, TINT_PLAIN, pieces[i].text);
                }
                column += width + GAP;
        }
        return row;
}

int resident_rows(const struct scene *s, const struct world_target *t, int width)
{
        struct piece pieces[PIECES];
        const Hw__Resident *r = resident_of(t);

        return r ? 1 + list_pieces(NULL, (struct area){ .width = width }, pieces, find_pieces(t, false, pieces)) : 0;
}

void draw_resident(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        struct piece pieces[PIECES];
        const Hw__Resident *r = resident_of(t);
        const int from = 1 + LABEL, width = area.width - from - 1;
        uint64_t sum = 0;

        if (!r)
                return;
        size_t n = find_pieces(t, c->ascii, pieces);
        (void)canvas_put(c, area, 0, 1, LABEL, TINT_PLAIN, "of RSS");
        for (size_t i = 0; i < n && width > 0; i++) {
                int start = (int)((double)sum / (double)r->rss_bytes * width + 0.5);
                sum += pieces[i].bytes;
                int end = (int)((double)sum / (double)r->rss_bytes * width + 0.5);
                canvas_rule(c, area, 0, from + start, end - start, pieces[i].tint, pieces[i].glyph);
        }
        (void)list_pieces(c, area, pieces, n);
}
