/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of kinds, series and enums' values, and which kind an update is.
 *
 * DESIGN: tables indexed by the schema's numbers; that of series is proto/facts/series.def. These names are what users
 * type and what topics carry, so they are written down rather than derived.
 */
#include <assert.h>
#include <string.h>

#include "heapwatch/wire.h"
#include "proto/base/array.h"
#include "proto/facts/facts.h"

#define X(number, id, ...) static_assert((int)HW__SERIES__SERIES_##id == (number), "make metrics");
#include "proto/facts/series.def"
#undef X

static const char *const kind_names[] = {
        [HW__KIND__KIND_DAEMON] = "daemon", [HW__KIND__KIND_TARGET] = "target",   [HW__KIND__KIND_HEAP] = "heap",
        [HW__KIND__KIND_GC] = "gc",         [HW__KIND__KIND_CENSUS] = "census",   [HW__KIND__KIND_BAND] = "band",
        [HW__KIND__KIND_NOTE] = "note",     [HW__KIND__KIND_PROFILE] = "profile", [HW__KIND__KIND_TICKY] = "ticky",
        [HW__KIND__KIND_SCHED] = "sched",   [HW__KIND__KIND_HEALTH] = "health",   [HW__KIND__KIND_TREND] = "trend",
        [HW__KIND__KIND_ALERT] = "alert",   [HW__KIND__KIND_EVENT] = "event",
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
        return (size_t)s < SERIES_COUNT ? series_rows[s].name : NULL;
}

Hw__Series hw_series_parse(const char *name)
{
        for (size_t i = 1; i < SERIES_COUNT; i++)
                if (!strcmp(name, series_rows[i].name))
                        return (Hw__Series)i;
        return HW__SERIES__SERIES_NONE;
}

const char *hw_series_unit(Hw__Series s)
{
        static const char *const units[] = { [FACT_COUNT] = "", [FACT_BYTES] = "B", [FACT_NS] = "ns" };

        return (size_t)s < SERIES_COUNT && s != HW__SERIES__SERIES_NONE ? units[series_rows[s].unit] : "";
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
