/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put.h - what the page's data are made of, as JSON onto a stream. A
 * failure of the stream stays in it (ferror); shortage of memory sets it, too.
 */
#ifndef HW_CLIENT_HISTORY_PUT_H
#define HW_CLIENT_HISTORY_PUT_H

#include <stdint.h>
#include <stdio.h>

#include "heapwatch/wire.h"

void put_text(FILE *to, const char *text); /* quoted and escaped */
void put_u64(FILE *to, uint64_t value);    /* "123": 64-bit integers are strings */
void put_number(FILE *to, double value);   /* 1.5; null when it is not finite */
void put_about(FILE *to, double value);    /* three decimals, fewer for large values */
void put_short(FILE *to, double value);    /* nine digits, whole numbers exactly */
void put_seconds(FILE *to, uint64_t ns);   /* 1.5, exactly */
void put_message(FILE *to, const ProtobufCMessage *m);

/* {"daemon":0,"update":{...}} */
void put_tagged(FILE *to, size_t daemon, const Hw__Update *update);

#endif
