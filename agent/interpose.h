/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.h - our replacements of functions of the C library. */
#ifndef HW_AGENT_INTERPOSE_H
#define HW_AGENT_INTERPOSE_H

/* Answers the next getenv("GHCRTS"), which is the runtime's; `words` must stay. */
void interpose_options(char *words);

#endif
