/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_text.h - the words of an alert: value, threshold, sentence, annotations. Private to the alerts. */
#ifndef HW_RULES_ALERT_TEXT_H
#define HW_RULES_ALERT_TEXT_H

#include "rules/alerts.h"

/* Works out all texts of an alert anew. Without memory the old ones stay. */
void alert_text_refresh(struct alert *alert, const char *target, const struct rule_data *data,
                        const struct rule_moment *at);

/* The band's label for people, valid UTF-8, cut. */
void alert_text_band(const struct rule_data *data, uint32_t band, char *out, size_t size);

#endif
