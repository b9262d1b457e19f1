/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/limit.h"

struct memory_limit limit_least(struct memory_limit a, struct memory_limit b)
{
        return b.bytes < a.bytes ? b : a; /* UNKNOWN_U64 is the largest */
}

const char *limit_source_words(enum limit_source source)
{
        switch (source) {
        case LIMIT_SOURCE_CGROUP:
                return "the limit of its control group";
        case LIMIT_SOURCE_MAX_HEAP:
                return "the heap limit of -M";
        case LIMIT_SOURCE_MEMORY:
                return "the machine's memory";
        case LIMIT_SOURCE_ADDRESS_SPACE:
                return "the limit of its address space (ulimit -v)";
        case LIMIT_SOURCE_GIVEN:
                return "the given limit";
        case LIMIT_SOURCE_UNKNOWN:
                break;
        }
        return "an unknown limit";
}
