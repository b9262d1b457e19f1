/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/limit.h"

struct memory_limit limit_least(struct memory_limit a, struct memory_limit b)
{
        if (a.bytes == UNKNOWN_U64 && b.bytes == UNKNOWN_U64)
                return (struct memory_limit){ UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN };
        return b.bytes < a.bytes ? b : a; /* UNKNOWN_U64 is the largest */
}
