/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptors.h - all descriptors of a process at once, whatever they are and who opened them. */
#ifndef HW_PROTO_BASE_DESCRIPTORS_H
#define HW_PROTO_BASE_DESCRIPTORS_H

/* Raises the soft limit of this process to its hard limit. On failure the limit stays as it was. */
void descriptors_raise(void);

/* Closes those from `first` on. Also in a child of fork(). */
void descriptors_close(int first);

/* Those from `first` on are closed in each program that is executed from now on. */
void descriptors_close_at_exec(int first);

#endif
