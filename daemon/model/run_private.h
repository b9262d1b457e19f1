/* SPDX-License-Identifier: BSD-3-Clause */
/* run_private.h - how the identity of a run is taken in. */
#ifndef HW_DAEMON_MODEL_RUN_PRIVATE_H
#define HW_DAEMON_MODEL_RUN_PRIVATE_H

#include "daemon/model/run.h"

struct model;

void run_clear(struct run *run, uint32_t ordinal);

void run_rts_identifier(struct model *m, const struct hw_event *e);
void run_program_args(struct model *m, const struct hw_event *e);
void run_pid(struct model *m, const struct hw_event *e);
void run_ppid(struct model *m, const struct hw_event *e);
void run_capset_delete(struct model *m, const struct hw_event *e);
void run_heap_info(struct model *m, const struct hw_event *e);
void run_heap_prof_begin(struct model *m, const struct hw_event *e);
void run_prof_begin(struct model *m, const struct hw_event *e);

#endif
