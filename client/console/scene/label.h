/* SPDX-License-Identifier: BSD-3-Clause */
/* label.h - a band's label in a column: without its package where there is no room for it. */
#ifndef HW_CLIENT_CONSOLE_SCENE_LABEL_H
#define HW_CLIENT_CONSOLE_SCENE_LABEL_H

#include "client/console/draw/canvas.h"
#include "heapwatch/wire.h"

/* Draws into at most `width` columns, and returns how many. `label` may contain anything; NULL or "" is unknown. */
int draw_label(struct canvas *c, struct area area, int row, int column, int width, const char *label);

/* With type, module and source of the band, as far as they are known and fit. */
void draw_band_label(struct canvas *c, struct area area, int row, int column, int width, const Hw__Band *band);

#endif
