/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_file.h - the file PROGRAM.hp, which the runtime opens for every heap
 * profile. When the profile is ours, nobody needs it.
 *
 * The runtime makes its name from prog_name. While it does, prog_name names a
 * link to /dev/null in the socket's directory; then it is restored. The
 * program's own PROGRAM.hp, if there is one, is not touched.
 */
#ifndef HW_AGENT_PROFILE_FILE_H
#define HW_AGENT_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"

/* False with a plain sentence: nothing is changed. */
bool profile_file_divert(struct error *error);

/* May be called when nothing was diverted. */
void profile_file_restore(void);

#endif
