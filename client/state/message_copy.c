/* SPDX-License-Identifier: BSD-3-Clause */
/* message_copy.c - a deep copy of a message, through its packed form: short, and right for every message to come. */
#include "client/state/message_copy.h"

#include <stdlib.h>

void *message_copy(const ProtobufCMessage *message)
{
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *packed = malloc(size ? size : 1);
        ProtobufCMessage *copy;

        if (!packed)
                return NULL;
        protobuf_c_message_pack(message, packed);
        copy = protobuf_c_message_unpack(message->descriptor, NULL, size, packed);
        free(packed);
        return copy;
}
