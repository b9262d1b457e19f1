/* SPDX-License-Identifier: BSD-3-Clause */
/* counted.h - turns messages that a test made on its stack into counted ones, as the library allocates them. */
#pragma once

#include <stdlib.h>

#include "proto/wire/message.h"

/* A counted copy, even of what the wire's checks would refuse. For hw_message_unref. */
static inline void *counted(const ProtobufCMessage *made)
{
        ProtobufCMessage *m = message_copy(made);

        if (!m)
                abort();
        return m;
}
