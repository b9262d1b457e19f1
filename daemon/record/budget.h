/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * budget.h - keeps a directory of recordings within its limits of size and age:
 * removes the oldest segments first. Without free disk space nothing is removed,
 * and nothing is to be recorded.
 *
 * Stateless: each call walks the directory, so what others removed or added is
 * seen. The newest segment of a run that is being written stays, and what
 * somebody has pinned (pin.h). A run that is over is removed with its last
 * segment. May wait for the disk.
 */
#ifndef HW_DAEMON_RECORD_BUDGET_H
#define HW_DAEMON_RECORD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* 0: no limit. */
struct budget {
        uint64_t total_bytes;
        uint64_t target_bytes; /* of each target */
        uint64_t age_ns;
        uint64_t free_bytes; /* to be left free on the disk */
};

struct budget_use {
        uint64_t bytes;   /* of the recordings now */
        uint64_t removed; /* segments, in this call */
        bool no_room;     /* less than free_bytes is free on the disk */
};

/* Returns 0 or -errno: the directory cannot be read. */
int budget_enforce(const char *directory, const struct budget *budget, uint64_t wall_ns, struct budget_use *ret_use);

#endif
