/* SPDX-License-Identifier: BSD-3-Clause */
/* views.h - all views. */
#ifndef HW_CLIENT_CONSOLE_VIEWS_VIEWS_H
#define HW_CLIENT_CONSOLE_VIEWS_VIEWS_H

#include "client/console/scene/shown.h"
#include "client/console/table/table.h"

/* In the order of the tabs, NULL at the end; help and the single band are not among the tabs. */
extern const struct console_view *const console_views[];
extern const struct console_view view_overview, view_targets_list, view_memory, view_bands, view_gc, view_profile,
        view_threads, view_notes, view_alerts, view_band, view_help;

/* target_columns.c: the numbers of a target. A row is a struct world_target. */

/* The first TARGET_LIST_COLUMNS are the list's, the first of these the name, the second the verdict. */
extern const struct column target_columns[];

enum { TARGET_LIST_COLUMNS = 23, TARGET_COLUMNS = 31 };

#endif
