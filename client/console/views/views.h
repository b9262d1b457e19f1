/* SPDX-License-Identifier: BSD-3-Clause */
/* views.h - all views. */
#pragma once

#include "client/console/scene/shown.h"
#include "client/console/table/table.h"

/* Each view, in the order of the tabs; the single band and help have no letter: they are reached in other ways. */
#define CONSOLE_VIEWS(X)                                                                                               \
        X(view_overview)                                                                                               \
        X(view_targets_list)                                                                                           \
        X(view_memory)                                                                                                 \
        X(view_bands)                                                                                                  \
        X(view_gc)                                                                                                     \
        X(view_profile)                                                                                                \
        X(view_threads)                                                                                                \
        X(view_notes)                                                                                                  \
        X(view_alerts)                                                                                                 \
        X(view_band)                                                                                                   \
        X(view_help)

#define VIEW_DECLARED(view) extern const struct console_view view;
CONSOLE_VIEWS(VIEW_DECLARED)
#undef VIEW_DECLARED

/* In that order, NULL at the end. */
extern const struct console_view *const console_views[];

/* target_columns.c: the numbers of a target. A row is a struct world_target. */

/* The first TARGET_LIST_COLUMNS are the list's, the first of these the name, the second the verdict. */
extern const struct column target_columns[];

enum { TARGET_LIST_COLUMNS = 23, TARGET_COLUMNS = 31 };
