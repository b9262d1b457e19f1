/* SPDX-License-Identifier: BSD-3-Clause */
/* overview.h - one target on one screen. */
#ifndef HW_CLIENT_CONSOLE_OVERVIEW_OVERVIEW_H
#define HW_CLIENT_CONSOLE_OVERVIEW_OVERVIEW_H

#include "client/console/draw/canvas.h"
#include "client/console/scene/scene.h"

/* Draws one target in full into an area. */
void draw_overview(struct canvas *c, struct area area, const struct scene *s, const struct world_target *t);

/* How many rows it would like. */
int overview_rows(const struct scene *s, const struct world_target *t, int width);

#endif
