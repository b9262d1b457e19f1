/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/console/views/views.h"

#define VIEW_ADDRESS(view) &view,

const struct console_view *const console_views[] = { CONSOLE_VIEWS(VIEW_ADDRESS) NULL };
