/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * junit.h - findings as JUnit's XML, which CI systems show: a suite for each
 * log, in it a case for each rule that fired, failed if its severity counts.
 */
#ifndef HW_CLIENT_RULES_JUNIT_H
#define HW_CLIENT_RULES_JUNIT_H

#include "client/rules/findings.h"

/* Writes the file. `files[i]` is the path of target i. Returns 0 or a negative errno. */
int junit_write(const char *path, const struct findings *f, const char *const *files, size_t n_files,
                enum severity least);

/* Reports that nothing could be judged, so that no result of an earlier run is left there. Returns the same. */
int junit_write_error(const char *path, const char *message);

#endif
