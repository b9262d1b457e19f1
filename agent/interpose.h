/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.h - our replacements of functions of the C library. */
#ifndef HW_AGENT_INTERPOSE_H
#define HW_AGENT_INTERPOSE_H

#include <stdbool.h>

/*
 * The runtime's PROGRAM.hp is not worth losing the bands: where it cannot be written it goes to /dev/null. With
 * `unwanted` always: the profile is not the user's own.
 */
void interpose_profile_file(bool unwanted);

#endif
