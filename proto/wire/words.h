/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - what sentences of the daemon and of the client call memory and its limits. */
#pragma once

#include "heapwatch/wire.h"

/* "live data", "foreign memory", "resident memory"; "the heap" for all others. */
const char *series_words(Hw__Series series);

/* "the limit of its control group"; "the limit" when its source is not known. */
const char *limit_words(Hw__TimeToLimit__Source source);
