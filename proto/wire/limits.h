/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what one message from outside may hold; beyond it the message is refused. */
#pragma once

#define LIMIT_MESSAGE_BYTES     (16u << 20)  /* one update or reply as it is sent */
#define LIMIT_UNPACKED_BYTES    (128u << 20) /* the same in memory: tiny parts grow when unpacked */
#define LIMIT_TARGET_NAME_BYTES 64u          /* a target's name */
#define LIMIT_TEXT_BYTES        65536u       /* any text field: a label, an argument, a URI */
#define LIMIT_WIRE_ID           (1u << 20)   /* a dense id (band, stack): readers index arrays by it */
#define LIMIT_REQUEST_BYTES     65536u /* one request: refused with an error; twice that: its connection is closed */
