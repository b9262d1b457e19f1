/* SPDX-License-Identifier: BSD-3-Clause */
/* message_copy.h - an owned copy of a wire message. */
#ifndef HW_CLIENT_STATE_MESSAGE_COPY_H
#define HW_CLIENT_STATE_MESSAGE_COPY_H

#include <protobuf-c/protobuf-c.h>

/* A deep copy of any message, to be freed with its type's free_unpacked; NULL when out of memory. */
void *message_copy(const ProtobufCMessage *message);

#endif
