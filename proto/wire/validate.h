/* SPDX-License-Identifier: BSD-3-Clause */
/* validate.h - is an unpacked message what the schema's comments promise? */
#ifndef HW_PROTO_WIRE_VALIDATE_H
#define HW_PROTO_WIRE_VALIDATE_H

#include "heapwatch/wire.h"

/*
 * Each returns NULL when the message is good, else a static sentence. Enum
 * values that this version does not know are removed from updates and replies;
 * in requests, where dropping one would change the question, they are refused.
 */
const char *validate_update(Hw__Update *update);
const char *validate_request(Hw__Request *request);
const char *validate_reply(Hw__Reply *reply);

#endif
