/* SPDX-License-Identifier: BSD-3-Clause */
/* onset.h - when growth began: the window's line, followed back for as long as the past is on it. */
#ifndef HW_DAEMON_TREND_ONSET_H
#define HW_DAEMON_TREND_ONSET_H

#include <stdint.h>

#include "daemon/trend/windows.h"

/*
 * The minute of the run (0 = its first) at which the growth of window `index`
 * began; its result must exist. At most the window's own start.
 */
uint64_t onset_minute(const struct ladder *l, const struct windows *w, unsigned index);

#endif
