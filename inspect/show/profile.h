/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h - `heapwatch profile`: functions by CPU time, allocation or waiting, and the trees of their callers. */
#ifndef HW_INSPECT_SHOW_PROFILE_H
#define HW_INSPECT_SHOW_PROFILE_H

#include "inspect/ghc/stack_profile.h"
#include "inspect/show/request.h"

/* False: out of memory. */
bool show_profile(const struct inspect_subject *s, const struct stack_profile *p);

#endif
