/* SPDX-License-Identifier: BSD-3-Clause */
/* available.h - memory that an inspection may take without anybody else missing it. */
#ifndef HW_INSPECT_PROCESS_AVAILABLE_H
#define HW_INSPECT_PROCESS_AVAILABLE_H

#include <stdint.h>

/* Of this machine and of our control groups, the least, in bytes; UINT64_MAX: not known. */
uint64_t available_bytes(void);

/* From now on, where memory is short after all, the kernel takes it from us first. */
void available_yield(void);

#endif
