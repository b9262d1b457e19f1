/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_text.h - the texts of an alert: value, threshold, sentence, annotations. Private to the alerts. */
#ifndef HW_DAEMON_RULES_ALERT_TEXT_H
#define HW_DAEMON_RULES_ALERT_TEXT_H

#include "daemon/rules/alerts.h"

/* Rewrites all texts of an alert. When out of memory the old ones stay. */
void alert_text_refresh(struct alert *alert, const char *target, const struct rule_data *data,
                        const struct rule_moment *at);

/* Adds to the sentence of an alert that is resolved by the end of its run that this is why. */
void alert_text_end_run(struct alert *alert);

/* value, threshold, sentence, then name and text of each annotation. */
#define TEXTS_BEFORE 3u
#define TEXTS_MAX    (TEXTS_BEFORE + 2 * RULE_PAIRS_MAX)

/* Sets the texts, which are copied. False when out of memory: the old ones stay. */
bool alert_text_keep(struct alert *alert, const char *const *texts, size_t n);

#define BAND_TEXT_MAX 512u

/* Texts of a band for people, valid UTF-8, cut; empty when not known; the label never is. */
struct alert_band {
        char label[BAND_TEXT_MAX], source[BAND_TEXT_MAX], name[BAND_TEXT_MAX];
};

void alert_text_band(const struct rule_data *data, uint32_t band, struct alert_band *ret);

#endif
