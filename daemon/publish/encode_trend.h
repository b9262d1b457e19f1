/* SPDX-License-Identifier: BSD-3-Clause */
/* encode_trend.h - the tracker's answers as messages of the wire; as in encode.h, NULL when out of memory. */
#ifndef HW_DAEMON_PUBLISH_ENCODE_TREND_H
#define HW_DAEMON_PUBLISH_ENCODE_TREND_H

#include "daemon/publish/encode.h"
#include "daemon/trend/tracker.h"

/*
 * With statistics of its windows, up to the newest event. The verdict on live data is that of `growth`, and its word is
 * by what rises, of the same moment. `growth` NULL: without a verdict.
 */
Hw__Trend *encode_trend(struct encoder *e, const struct tracker *t, struct subject subject, const struct growth *growth,
                        const struct rising_subjects *rising);
Hw__Growth *encode_no_growth(struct encoder *e, const char *key, const char *why);
Hw__Growth *encode_growth(struct encoder *e, const struct bands *bands, const struct growth *growth);
Hw__ThreadRise *encode_threads(struct encoder *e, const struct bands *bands, const struct thread_rise *r);
Hw__EarlyWarning *encode_early(struct encoder *e, const struct tracker *t, const struct bands *bands,
                               const struct tracked_early *r);
Hw__TimeToLimit *encode_time_to_limit(struct encoder *e, const struct limit_time *limit);
Hw__TrendScale *encode_scale(struct encoder *e, const struct tracker_config *config);

#endif
