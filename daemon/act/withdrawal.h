/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * withdrawal.h - what is told to those who keep an alert as a state (Alertmanager)
 * when it is silenced: that it is over, and in the annotation `silenced` that
 * this is a silence and not the end. Pure.
 */
#ifndef HW_DAEMON_ACT_WITHDRAWAL_H
#define HW_DAEMON_ACT_WITHDRAWAL_H

#include "daemon/rules/notice.h"
#include "daemon/act/silence.h"

/* From the notice of the alert that fires. A copy, to free(); NULL when out of memory. */
struct notice *withdrawal_new(const struct notice *firing, const struct silence *silence, uint64_t now_wall_ns);

#endif
