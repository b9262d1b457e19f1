/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/words.h"

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
        case HW__TIME_TO_LIMIT__SOURCE__SOURCE_GIVEN:
                return "the given limit";
        default:
                return "the limit";
        }
}
