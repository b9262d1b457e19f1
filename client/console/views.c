/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - all views. The tabs have this order; those without a letter are reached in other ways. */
#include "client/console/console.h"

const struct console_view *const console_views[] = {
        &view_overview,
        &view_targets_list,
        &view_help,
        NULL,
};
