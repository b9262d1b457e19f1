/* SPDX-License-Identifier: BSD-3-Clause */
/* target_columns.h - the numbers of a target. A row is a struct world_target. */
#ifndef HW_CLIENT_CONSOLE_VIEWS_TARGET_COLUMNS_H
#define HW_CLIENT_CONSOLE_VIEWS_TARGET_COLUMNS_H

#include "client/console/table/table.h"

/* The first TARGET_LIST_COLUMNS are the list's, the first of these the name, the second the verdict. */
extern const struct column target_columns[];

enum { TARGET_LIST_COLUMNS = 22, TARGET_COLUMNS = 30 };

#endif
