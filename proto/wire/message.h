/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h - the memory of messages: how wire.h's counted messages are allocated. */
#ifndef HW_PROTO_WIRE_MESSAGE_H
#define HW_PROTO_WIRE_MESSAGE_H

#include "heapwatch/wire.h"

/* Memory for a message or a part of one, its count 1; NULL when out of memory. Frees it, whatever its count is. */
void *message_allocate(size_t size);
void message_release(void *memory);

/* A message of this type with nothing set; NULL when out of memory. For hw_message_unref. */
void *message_new(const ProtobufCMessageDescriptor *type);

/* Replaces *field, a text of a message that was made here, by a copy of `text`. Returns 0 or -ENOMEM. */
int message_set_text(char **field, const char *text);

/* validate.c: is an unpacked message what the schema's comments promise? */

/*
 * Each returns NULL when the message is good, else a static sentence. Enum
 * values that this version does not know are removed from updates and replies;
 * in requests, where dropping one would change the question, they are refused.
 */
const char *validate_update(Hw__Update *update);
const char *validate_request(Hw__Request *request);
const char *validate_reply(Hw__Reply *reply);

#endif
