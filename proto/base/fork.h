/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.h - _Fork(3), fork(2) without the handlers of libraries: glibc has it from 2.34 on; before, it is with them. */
#ifndef HW_PROTO_BASE_FORK_H
#define HW_PROTO_BASE_FORK_H

#include <unistd.h>

#if !__GLIBC_PREREQ(2, 34)
#define _Fork fork
#endif

#endif
