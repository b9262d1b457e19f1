/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_file.h - the file PROGRAM.hp, which the runtime opens for every heap
 * profile. When the profile is ours nobody wants it.
 *
 * The runtime makes its name from prog_name. While it does, prog_name is that
 * of a link to /dev/null in the socket's directory; then it is as before. The
 * program's own PROGRAM.hp, if there is one, is not touched.
 */
#ifndef HW_AGENT_PROFILE_FILE_H
#define HW_AGENT_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"

/* False with a plain sentence: nothing is changed. */
bool profile_file_divert(struct error *error);

/* Accepts not to have been diverted. */
void profile_file_restore(void);

#endif
