/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/console/scene/label.h"

#include <string.h>

#include "client/console/draw/text.h"
#include "client/state/band_name.h"

/* Spaces separate a cost-centre stack or a sentence, whose beginning matters most. */
static bool is_qualified_name(const char *label)
{
        return strpbrk(label, " /") == NULL;
}

void draw_label(struct canvas *c, struct area area, int row, int column, int width, const char *label)
{
        bool known = label && *label;
        enum tint tint = known ? TINT_PLAIN : TINT_DIM;
        char safe[1024];

        (void)safe_text(safe, sizeof(safe), known ? label : UNKNOWN_TEXT);
        if (text_columns(safe) > width)
                (void)safe_text(safe, sizeof(safe), package_label(label).rest);
        if (is_qualified_name(safe))
                (void)canvas_put_end(c, area, row, column, width, tint, safe);
        else
                (void)canvas_put(c, area, row, column, width, tint, safe);
}
