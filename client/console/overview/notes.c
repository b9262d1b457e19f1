/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - as many of the newest notes as fit, the newest at the bottom. */
#include "client/console/overview/sections.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/console/draw/widgets.h"
#include "proto/base/number_text.h"

enum { MOST = 20, TIME = 10 };

int notes_rows(const struct scene *s, const struct world_target *t, int width)
{
        uint64_t n = t->notes_last ? t->notes_last - t->notes_first + 1 : 0;

        return n ? 1 + (n < MOST ? (int)n : MOST) : 0;
}

static void draw_note(struct canvas *c, struct area area, int row, const struct scene *s, const struct world_target *t,
                      const struct world_note *n)
{
        char time[SHORT_TEXT], text[2200];
        char safe[2048];
        bool marker = n->has_what && n->what == HW__NOTE__WHAT__WHAT_MARKER;

        (void)safe_text(safe, sizeof(safe), n->text);
        switch (n->what) {
        case HW__NOTE__WHAT__WHAT_MARKER:
                (void)snprintf(text, sizeof(text), "▸ %s", safe);
                break;
        case HW__NOTE__WHAT__WHAT_THREAD_LABEL:
                (void)snprintf(text, sizeof(text), "thread %u is %s", n->thread, safe);
                break;
        case HW__NOTE__WHAT__WHAT_BINARY:
                (void)snprintf(text, sizeof(text), "%" PRIu64 " bytes of binary data", n->size_bytes);
                break;
        default:
                (void)snprintf(text, sizeof(text), "%s", safe);
                break;
        }
        (void)canvas_put_right(c, area, row, 1, TIME, TINT_DIM,
                               n->has_time_ns ? scene_when(time, sizeof(time), s, t, n->time_ns) : UNKNOWN_TEXT);
        (void)canvas_put(c, area, row, 1 + TIME + 2, area.width - TIME - 4, marker ? TINT_STRONG : TINT_PLAIN, text);
}

void draw_notes(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t)
{
        char title[64];
        int row = area.height - 1;

        (void)snprintf(title, sizeof(title), "%s in this run", COUNT_TEXT(t->notes_last));
        draw_title(c, area, 0, "Notes", title);
        for (uint64_t number = t->notes_last; row > 0 && number && number >= t->notes_first; number--) {
                const struct world_note *n = world_note(t, number);

                if (n)
                        draw_note(c, area, row--, s, t, n);
        }
}
