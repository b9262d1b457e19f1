/* SPDX-License-Identifier: BSD-3-Clause */
/* sibling.h - the other program of the pair that was installed together. */
#ifndef HW_PROTO_BASE_SIBLING_H
#define HW_PROTO_BASE_SIBLING_H

#include <stddef.h>

/* The program `name` beside the one that runs; else the bare name, for PATH. */
void sibling_program(const char *name, char *ret_path, size_t size);

#endif
