/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/base/process.h"

const char *series_words(Hw__Series series)
{
        switch (series) {
        case HW__SERIES__SERIES_LIVE:
                return "live data";
        case HW__SERIES__SERIES_FOREIGN:
                return "foreign memory";
        case HW__SERIES__SERIES_RSS:
                return "resident memory";
        default:
                return "the heap";
        }
}

const char *limit_words(Hw__TimeToLimit__Source source)
{
        switch (source) {
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP:
                return "the limit of its control group";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP:
                return "the heap limit -M";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY:
                return "the machine's memory";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE:
                return "the limit of its address space (ulimit -v)";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED:
                return "the address space reserved for its heap (by ulimit -v or -xr)";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_DATA:
                return "the limit of its private memory (ulimit -d)";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_GIVEN:
                return "the given limit";
        default:
                return "the limit";
        }
}

const char *limit_name(Hw__TimeToLimit__Source source)
{
        switch (source) {
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP:
                return "cgroup";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP:
                return "-M";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY:
                return "machine";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE:
                return "ulimit -v";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED:
                return "reserved";
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_DATA:
                return "ulimit -d";
        default:
                return "--limit";
        }
}

bool limit_counts_heap(Hw__TimeToLimit__Source source)
{
        return source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP ||
               source == HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED;
}

const char *end_reason(char out[END_REASON_SIZE], uint32_t status, bool out_of_cpu, uint64_t limit_bytes,
                       bool is_reserved)
{
        const unsigned shift = limit_bytes % (1u << 20) == 0 ? 20 : limit_bytes % (1u << 10) == 0 ? 10 : 0;
        const char *unit = shift == 20 ? "m" : shift == 10 ? "k" : ""; /* as the runtime's options are written */
        const bool exhausted = !out_of_cpu && status == EXIT_HEAP_EXHAUSTED;

        if (exhausted && limit_bytes && is_reserved)
                (void)snprintf(out, END_REASON_SIZE, ", heap exhausted at the %" PRIu64 " MiB reserved for it",
                               limit_bytes >> 20);
        else if (exhausted && limit_bytes)
                (void)snprintf(out, END_REASON_SIZE, ", heap exhausted at -M%" PRIu64 "%s", limit_bytes >> shift, unit);
        else
                (void)snprintf(out, END_REASON_SIZE, "%s",
                               out_of_cpu  ? ", out of processor time (ulimit -t)"
                               : exhausted ? ", GHC's for an exhausted heap"
                                           : "");
        return out;
}
