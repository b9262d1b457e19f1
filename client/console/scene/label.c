/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/console/scene/scene.h"

#include <string.h>

#include "client/console/draw/widgets.h"
#include "client/world/state/band_name.h"
#include "proto/base/utf8.h"

int draw_label(struct canvas *c, struct area area, int row, int column, int width, const char *label)
{
        bool known = label && *label;
        enum tint tint = known ? TINT_PLAIN : TINT_DIM;
        char safe[1024];

        (void)safe_text(safe, sizeof(safe), known ? label : UNKNOWN_TEXT);
        if (text_columns(safe) > width)
                (void)safe_text(safe, sizeof(safe), package_label(label).rest);
        if (!strpbrk(safe, " /;")) /* a qualified name; of words or a cost-centre stack the beginning matters most */
                return canvas_put_end(c, area, row, column, width, tint, safe);
        return canvas_put(c, area, row, column, width, tint, safe);
}

void draw_band_label(struct canvas *c, struct area area, int row, int column, int width, const Hw__Band *band)
{
        char place[BAND_PLACE_MAX];
        int used = draw_label(c, area, row, column, width, band->label) + 2;

        if (used < width)
                (void)canvas_put(c, area, row, column + used, width - used, TINT_DIM,
                                 SAFE_TEXT(BAND_PLACE_MAX, band_place(place, sizeof(place), band)));
}
