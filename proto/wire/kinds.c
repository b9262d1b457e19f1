/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of kinds, series and enums' values, and which kind an update is.
 *
 * DESIGN: tables indexed by the schema's numbers. These names are what users
 * type and what topics carry, so they are written down here rather than derived.
 */
#include <string.h>

#include "heapwatch/wire.h"
#include "proto/base/array.h"

static const char *const kind_names[] = {
        [HW__KIND__KIND_DAEMON] = "daemon", [HW__KIND__KIND_TARGET] = "target",   [HW__KIND__KIND_HEAP] = "heap",
        [HW__KIND__KIND_GC] = "gc",         [HW__KIND__KIND_CENSUS] = "census",   [HW__KIND__KIND_BAND] = "band",
        [HW__KIND__KIND_NOTE] = "note",     [HW__KIND__KIND_PROFILE] = "profile", [HW__KIND__KIND_TICKY] = "ticky",
        [HW__KIND__KIND_SCHED] = "sched",   [HW__KIND__KIND_HEALTH] = "health",   [HW__KIND__KIND_TREND] = "trend",
        [HW__KIND__KIND_ALERT] = "alert",   [HW__KIND__KIND_EVENT] = "event",
};

static const struct {
        const char *name, *unit;
} series[] = {
        [HW__SERIES__SERIES_LIVE] = { "live", "B" },
        [HW__SERIES__SERIES_HEAP_SIZE] = { "heap_size", "B" },
        [HW__SERIES__SERIES_BLOCKS_SIZE] = { "blocks_size", "B" },
        [HW__SERIES__SERIES_ALLOCATED] = { "allocated", "B" },
        [HW__SERIES__SERIES_GC_PAUSE] = { "gc_pause", "ns" },
        [HW__SERIES__SERIES_COPIED] = { "copied", "B" },
        [HW__SERIES__SERIES_SLOP] = { "slop", "B" },
        [HW__SERIES__SERIES_FRAGMENTATION] = { "fragmentation", "B" },
        [HW__SERIES__SERIES_RSS] = { "rss", "B" },
        [HW__SERIES__SERIES_PSS] = { "pss", "B" },
        [HW__SERIES__SERIES_SWAP] = { "swap", "B" },
        [HW__SERIES__SERIES_CPU] = { "cpu", "ns" },
        [HW__SERIES__SERIES_CGROUP] = { "cgroup", "B" },
        [HW__SERIES__SERIES_CENSUS_TOTAL] = { "census_total", "B" },
        [HW__SERIES__SERIES_FOREIGN] = { "foreign", "B" },
        [HW__SERIES__SERIES_LIVE_RESIDENT] = { "live_resident", "B" },
        [HW__SERIES__SERIES_RESERVE] = { "reserve", "B" },
        [HW__SERIES__SERIES_KEPT] = { "kept", "B" },
        [HW__SERIES__SERIES_GIVEN_BACK] = { "given_back", "B" },
        [HW__SERIES__SERIES_FILES] = { "files", "B" },
};

const char *hw_kind_name(Hw__Kind kind)
{
        return (size_t)kind < ARRAY_SIZE(kind_names) ? kind_names[kind] : NULL;
}

Hw__Kind hw_kind_parse(const char *name)
{
        for (size_t i = 1; i < ARRAY_SIZE(kind_names); i++)
                if (kind_names[i] && !strcmp(name, kind_names[i]))
                        return (Hw__Kind)i;
        return HW__KIND__KIND_NONE;
}

const char *hw_series_name(Hw__Series s)
{
        return (size_t)s < ARRAY_SIZE(series) ? series[s].name : NULL;
}

Hw__Series hw_series_parse(const char *name)
{
        for (size_t i = 1; i < ARRAY_SIZE(series); i++)
                if (series[i].name && !strcmp(name, series[i].name))
                        return (Hw__Series)i;
        return HW__SERIES__SERIES_NONE;
}

const char *hw_series_unit(Hw__Series s)
{
        return (size_t)s < ARRAY_SIZE(series) && series[s].unit ? series[s].unit : "";
}

const char *hw_enum_word(const ProtobufCEnumDescriptor *of, int value)
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(of, value);

        return v ? v->name : NULL;
}

Hw__Kind hw_update_kind(const Hw__Update *update)
{
        switch (update->body_case) {
        case HW__UPDATE__BODY_DAEMON:
                return HW__KIND__KIND_DAEMON;
        case HW__UPDATE__BODY_TARGET_STATE:
                return HW__KIND__KIND_TARGET;
        case HW__UPDATE__BODY_HEAP:
                return HW__KIND__KIND_HEAP;
        case HW__UPDATE__BODY_GC:
                return HW__KIND__KIND_GC;
        case HW__UPDATE__BODY_CENSUS:
                return HW__KIND__KIND_CENSUS;
        case HW__UPDATE__BODY_BANDS:
                return HW__KIND__KIND_BAND;
        case HW__UPDATE__BODY_NOTES:
                return HW__KIND__KIND_NOTE;
        case HW__UPDATE__BODY_PROFILE:
                return HW__KIND__KIND_PROFILE;
        case HW__UPDATE__BODY_TICKY:
                return HW__KIND__KIND_TICKY;
        case HW__UPDATE__BODY_SCHED:
                return HW__KIND__KIND_SCHED;
        case HW__UPDATE__BODY_HEALTH:
                return HW__KIND__KIND_HEALTH;
        case HW__UPDATE__BODY_TRENDS:
                return HW__KIND__KIND_TREND;
        case HW__UPDATE__BODY_ALERTS:
                return HW__KIND__KIND_ALERT;
        case HW__UPDATE__BODY_EVENTS:
                return HW__KIND__KIND_EVENT;
        default:
                return HW__KIND__KIND_NONE;
        }
}
