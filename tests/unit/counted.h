/* SPDX-License-Identifier: BSD-3-Clause */
/* counted.h - turns messages that a test made on its stack into counted ones, as the library allocates them. */
#ifndef HW_TESTS_UNIT_COUNTED_H
#define HW_TESTS_UNIT_COUNTED_H

#include <stdlib.h>

#include "proto/wire/message.h"

static inline void *counted_take(void *ctx, size_t size)
{
        (void)ctx;
        return message_allocate(size);
}

static inline void counted_release(void *ctx, void *memory)
{
        (void)ctx;
        message_release(memory);
}

/* A counted copy, even of what the wire's checks would refuse. For hw_message_unref. */
static inline void *counted(const ProtobufCMessage *made)
{
        ProtobufCAllocator allocator = { .alloc = counted_take, .free = counted_release };
        size_t size = protobuf_c_message_get_packed_size(made);
        uint8_t *packed = malloc(size + 1);
        ProtobufCMessage *m;

        if (!packed)
                abort();
        protobuf_c_message_pack(made, packed);
        m = protobuf_c_message_unpack(made->descriptor, &allocator, size, packed);
        free(packed);
        if (!m)
                abort();
        return m;
}

#endif
