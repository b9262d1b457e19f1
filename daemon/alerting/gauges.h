/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gauges.h - numbers that the model has no history of, one sample a second, kept as long and as finely as the rules
 * require.
 *
 * Only rules read gauges, so their windows determine what is kept: the level that a window lies in
 * (daemon/model/series.h) is as long as the longest such window; the levels below it cover one of its intervals, for
 * the window's newer end. So a window has the same samples as if everything was kept; only in a run younger than the
 * window its first intervals may be wider. Gauges that no rule reads are kept for 6 h in steps of 10 min, for rules
 * that are loaded later.
 * A gauge with a window of 15 min takes 7.5 kB, one without 2.5 kB; all of it would be 52 kB.
 */
#ifndef HW_DAEMON_ALERTING_GAUGES_H
#define HW_DAEMON_ALERTING_GAUGES_H

#include "daemon/model/series.h"
#include "daemon/rules/rule.h"

#define GAUGES    ((unsigned)RULE_STREAM_LAG - SERIES_COUNT)
#define GAUGE(id) ((unsigned)(id)-SERIES_COUNT)

struct rule_gauge {
        struct series series;
        uint32_t cells[PYRAMID_LEVELS]; /* at most, of each level */
};

/* Determines from the rules what is kept from now on. What was kept before stays until newer samples replace it. */
void gauges_require(struct rule_gauge gauges[GAUGES], const struct ruleset *rules);

/* Does nothing when the value is unknown (NaN), or when out of memory. */
void gauge_push(struct rule_gauge *g, uint64_t time_ns, double value);

/* Forgets all samples. */
void gauge_clear(struct rule_gauge *g);

#endif
