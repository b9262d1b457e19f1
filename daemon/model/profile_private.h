/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_private.h - how time-profile ticks and ticky counters are taken in. */
#ifndef HW_DAEMON_MODEL_PROFILE_PRIVATE_H
#define HW_DAEMON_MODEL_PROFILE_PRIVATE_H

#include "proto/base/arena.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/profile.h"

struct model;

struct profile {
        struct pool stacks; /* struct profile_stack */
        struct idtable by_stack;
        struct arena centres; /* their ids */
        uint64_t seed;
        uint64_t ticks, left_out;
};

void profile_init(struct profile *p);
void profile_done(struct profile *p);
size_t profile_held(const struct profile *p);
void profile_tick(struct model *m, const struct hw_event *e);

struct ticky {
        struct pool counters; /* struct ticky_counter */
        struct idtable by_id;
        uint64_t seed;
        uint64_t events, left_out;
        uint32_t defined;
};

void ticky_init(struct ticky *t);
void ticky_done(struct ticky *t);
size_t ticky_held(const struct ticky *t);
void ticky_define(struct model *m, const struct hw_event *e);
void ticky_sample(struct model *m, const struct hw_event *e);

#endif
