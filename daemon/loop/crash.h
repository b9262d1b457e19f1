/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crash.h - a daemon that crashes writes which signal it was, at which address, and its stack to standard error, and
 * into the file of its life (proto/base/daemon_life.h). Then the signal does what it would have done.
 */
#ifndef HW_DAEMON_LOOP_CRASH_H
#define HW_DAEMON_LOOP_CRASH_H

/* From now on. `life`: its descriptor, or -1. Does nothing under a sanitizer, which reports crashes itself. */
void crash_catch(int life);

#endif
