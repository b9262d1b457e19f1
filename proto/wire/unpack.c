/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two bytes of wire can become a hundred in memory (an empty nested
 * message), so the bytes allocated while unpacking have a cap of their own.
 */
#include "proto/wire/message.h"

#include "proto/wire/limits.h"
#include "heapwatch/wire.h"

static const char too_large[] = "the message is too large";
static const char malformed[] = "the message is malformed, or too large when unpacked";

static void *allocate(void *data, size_t size)
{
        size_t *left = data;

        if (size > *left)
                return NULL;
        *left -= size;
        return message_allocate(size);
}

static void release(void *data, void *pointer)
{
        (void)data; /* memory freed within one message does not raise its cap */
        message_release(pointer);
}

static ProtobufCMessage *unpack(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size, size_t max,
                                const char **ret_reason)
{
        size_t left = LIMIT_UNPACKED_BYTES;
        ProtobufCAllocator allocator = { .alloc = allocate, .free = release, .allocator_data = &left };

        if (size > max) {
                *ret_reason = too_large;
                return NULL;
        }
        ProtobufCMessage *m = protobuf_c_message_unpack(type, &allocator, size, bytes);
        if (!m)
                *ret_reason = malformed;
        return m;
}

/* Frees a message that its check refused. */
static ProtobufCMessage *checked(ProtobufCMessage *m, const char *reason, const char **ret_reason)
{
        if (!reason)
                return m;
        *ret_reason = reason;
        hw_message_unref(m);
        return NULL;
}

Hw__Update *hw_update_unpack(const void *bytes, size_t size, const char **ret_reason)
{
        ProtobufCMessage *m = unpack(&hw__update__descriptor, bytes, size, LIMIT_MESSAGE_BYTES, ret_reason);

        return m ? (Hw__Update *)checked(m, validate_update((Hw__Update *)m), ret_reason) : NULL;
}

Hw__Request *hw_request_unpack(const void *bytes, size_t size, const char **ret_reason)
{
        ProtobufCMessage *m = unpack(&hw__request__descriptor, bytes, size, LIMIT_REQUEST_BYTES, ret_reason);

        return m ? (Hw__Request *)checked(m, validate_request((Hw__Request *)m), ret_reason) : NULL;
}

Hw__Reply *hw_reply_unpack(const void *bytes, size_t size, const char **ret_reason)
{
        ProtobufCMessage *m = unpack(&hw__reply__descriptor, bytes, size, LIMIT_MESSAGE_BYTES, ret_reason);

        return m ? (Hw__Reply *)checked(m, validate_reply((Hw__Reply *)m), ret_reason) : NULL;
}
