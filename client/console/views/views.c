/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - all views. The tabs have this order; those without a letter are reached in other ways. */
#include "client/console/views/views.h"

const struct console_view *const console_views[] = {
        &view_overview, &view_targets_list, &view_memory, &view_bands, &view_gc,   &view_profile,
        &view_threads,  &view_notes,        &view_alerts, &view_band,  &view_help, NULL,
};
