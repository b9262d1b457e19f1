/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anything a peer may send. The first byte chooses the message. What is
 * accepted must survive JSON and packing, and say the same when it is accepted again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ProtobufCMessage *unpack(unsigned choice, const uint8_t *data, size_t size)
{
        const char *reason = NULL;
        ProtobufCMessage *m;

        if (choice % 3 == 0)
                m = (ProtobufCMessage *)hw_update_unpack(data, size, &reason);
        else if (choice % 3 == 1)
                m = (ProtobufCMessage *)hw_request_unpack(data, size, &reason);
        else
                m = (ProtobufCMessage *)hw_reply_unpack(data, size, &reason);
        if (!m && !reason)
                abort();
        return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        ProtobufCMessage *m = unpack(data[0], data + 1, size - 1);
        if (!m)
                return 0;
        char *json = hw_json(m, data[0] & 0x80);
        size_t packed = protobuf_c_message_get_packed_size(m);
        uint8_t *bytes = malloc(packed + 1);
        if (!json || !bytes || protobuf_c_message_pack(m, bytes) != packed)
                abort();
        /* Unknown fields with odd numbers may be refused the second time; what is accepted says the same. */
        ProtobufCMessage *again = unpack(data[0], bytes, packed);
        char *json_again = again ? hw_json(again, data[0] & 0x80) : NULL;
        if (again && (!json_again || strcmp(json, json_again) != 0))
                abort();
        hw_message_unref(again);
        hw_message_unref(m);
        free(json_again);
        free(json);
        free(bytes);
        return 0;
}
