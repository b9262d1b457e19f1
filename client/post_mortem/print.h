/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - the account of a run's end (client/answers), as a screen of text or as JSON. */
#ifndef HW_CLIENT_POST_MORTEM_PRINT_H
#define HW_CLIENT_POST_MORTEM_PRINT_H

#include <stdio.h>

#include "client/answers/account.h"

void account_text(FILE *to, const struct account *a, const struct world_target *t);
void account_json(FILE *to, const struct account *a, const struct world_target *t);

#endif
