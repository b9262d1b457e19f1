/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/base/array.h"
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

static const struct limit {
        const char *words, *name;
} limits[] = {
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN] = { "the limit", "--limit" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP] = { "the limit of its control group", "cgroup" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP] = { "the heap limit -M", "-M" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY] = { "the machine's memory", "machine" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_GIVEN] = { "the given limit", "--limit" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE] = { "the limit of its address space (ulimit -v)",
                                                              "ulimit -v" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED] = { "the address space reserved for its heap (by ulimit -v or "
                                                         "-xr)",
                                                         "reserved" },
        [HW__TIME_TO_LIMIT__SOURCE__SOURCE_DATA] = { "the limit of its private memory (ulimit -d)", "ulimit -d" },
};

/* Of a source that only a later version knows: as of one that is not known. */
static const struct limit *limit_of(Hw__TimeToLimit__Source source)
{
        return &limits[(unsigned)source < ARRAY_SIZE(limits) ? source : HW__TIME_TO_LIMIT__SOURCE__SOURCE_UNKNOWN];
}

const char *limit_words(Hw__TimeToLimit__Source source)
{
        return limit_of(source)->words;
}

const char *limit_name(Hw__TimeToLimit__Source source)
{
        return limit_of(source)->name;
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
