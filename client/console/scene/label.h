/* SPDX-License-Identifier: BSD-3-Clause */
/* label.h - a band's label in a column: without its package where there is no room for it. */
#ifndef HW_CLIENT_CONSOLE_SCENE_LABEL_H
#define HW_CLIENT_CONSOLE_SCENE_LABEL_H

#include "client/console/draw/canvas.h"

/* Draws into at most `width` columns. `label` may contain anything; NULL or "" is unknown. */
void draw_label(struct canvas *c, struct area area, int row, int column, int width, const char *label);

#endif
