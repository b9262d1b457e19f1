/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor_project.h - `heapwatch doctor DIRECTORY`: what to add to the files that build a Haskell project. */
#ifndef HW_CLIENT_COMMANDS_DOCTOR_PROJECT_H
#define HW_CLIENT_COMMANDS_DOCTOR_PROJECT_H

#include <stdbool.h>

/*
 * Prints the findings, or a patch with what is needed; changes no file. Returns the exit status: EXIT_FINDING if a
 * needed line is missing, or is not in the patch.
 */
int doctor_project(const char *directory, bool json, bool patch);

#endif
