/* SPDX-License-Identifier: BSD-3-Clause */
/* views/ticky.h - the second table of the profile. */
#ifndef HW_CLIENT_CONSOLE_VIEWS_TICKY_H
#define HW_CLIENT_CONSOLE_VIEWS_TICKY_H

#include "client/console/table/table.h"

extern const struct table_class ticky_table;

#endif
