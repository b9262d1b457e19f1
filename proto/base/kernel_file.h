/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_file.h - small text files that the kernel generates when they are read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_PATH_MAX 4608 /* a cgroup's path may take 4096 */

/* Reads at most size - 1 bytes and terminates them. Returns their number or -Exxx. */
int kernel_file_read(char *buffer, size_t size, const char *path_format, ...) __attribute__((format(printf, 3, 4)));

/* The number at the start of `text`, blanks allowed before it. False when there is none or it is too large. */
bool kernel_number(const char *text, uint64_t *ret_number);

/* The number after "KEY:" or "KEY " at the start of a line. */
bool kernel_field(const char *text, const char *key, uint64_t *ret_number);
