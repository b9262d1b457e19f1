/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.h - what a mistyped word was meant to be: shared with the daemon, see base/nearest.h. */
#ifndef HW_CLIENT_NEAREST_H
#define HW_CLIENT_NEAREST_H

#include "base/nearest.h"

#endif
