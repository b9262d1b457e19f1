/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how much `heapwatch archive` holds in memory while it cannot write, and the longest interpolation. */
#pragma once

#include <stdint.h>

#define ARCHIVE_PENDING   400000u              /* rows of one target that wait; later ones are counted as lost */
#define ARCHIVE_MESSAGES  10000u               /* notes, verdicts, alerts of one target that wait */
#define ARCHIVE_HELD      (UINT64_C(64) << 20) /* bytes of a finished log's messages until its start is known */
#define ARCHIVE_BRIDGE_NS (UINT64_C(604800) * 1000000000) /* samples farther apart are not connected by a line */
#define ARCHIVE_RUNS      10000u                          /* in one selection */
#define ARCHIVE_BANDS     20000u                          /* of one run, by name; further ones are counted as lost */
