/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h - where a running process has dlopen and dlsym: looked up in the file of its own C library (glibc from 2.34,
 * 64 bits), at the address at which that is mapped. Nothing of the process is changed.
 */
#ifndef HW_CLIENT_ATTACH_LOADER_H
#define HW_CLIENT_ATTACH_LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"

struct loader {
        uint64_t dlopen_at, dlsym_at; /* addresses in the process */
};

bool loader_find(pid_t pid, struct loader *ret, struct error *error);

#endif
