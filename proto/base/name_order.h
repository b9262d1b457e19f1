/* SPDX-License-Identifier: BSD-3-Clause */
/* name_order.h - the order in which every face lists names of targets. */
#ifndef HW_PROTO_BASE_NAME_ORDER_H
#define HW_PROTO_BASE_NAME_ORDER_H

#include <stdbool.h>

/* As strcmp, or as strcasecmp with `fold`, but a previous run NAME~9 comes before NAME~10. A total order. */
int name_order(const char *a, const char *b, bool fold);

#endif
