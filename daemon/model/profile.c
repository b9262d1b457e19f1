/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a tick is one event per capability and millisecond: one hash of its
 * ids, one compare, one addition. Gaps in the tick counter are time without
 * sampling, not samples, so only events are counted. Ticks are of CPU time and
 * samples of ghc-stack-profiler of wall-clock time, so they are not added up:
 * what comes first in a run is its profile, the other kind is left out.
 */
#include "daemon/model/model.h"

#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"
#include "proto/base/limits.h"

void profile_init(struct profile *p)
{
        *p = (struct profile){ .seed = hash_seed(p) };
        pool_init(&p->stacks, sizeof(struct profile_stack), 6);
        arena_init(&p->centres, LIMIT_STACK_BYTES);
        stack_samples_init(&p->samples);
}

void profile_done(struct profile *p)
{
        pool_done(&p->stacks);
        idtable_done(&p->by_stack);
        arena_done(&p->centres);
        stack_samples_done(&p->samples);
}

size_t profile_held(const struct profile *p)
{
        return pool_held(&p->stacks) + idtable_held(&p->by_stack) + p->centres.held_bytes +
               stack_samples_held(&p->samples);
}

static struct profile_stack *add(struct profile *p, uint64_t hash, const uint32_t *ids, uint32_t depth, uint64_t thread)
{
        uint32_t *centres;
        struct profile_stack *stack;

        if (p->stacks.count >= LIMIT_STACKS || !(stack = pool_add(&p->stacks)))
                return NULL;
        centres = arena_calloc(&p->centres, depth ? depth : 1, sizeof(*centres));
        if (!centres || idtable_add(&p->by_stack, hash, p->stacks.count) < 0) {
                pool_undo(&p->stacks);
                return NULL;
        }
        memcpy(centres, ids, depth * sizeof(*ids));
        *stack = (struct profile_stack){ .id = p->stacks.count, .depth = depth, .centres = centres, .thread = thread };
        return stack;
}

static struct profile_stack *find(const struct profile *p, uint64_t hash, const uint32_t *ids, uint32_t depth,
                                  uint64_t thread)
{
        uint32_t at = idtable_start(&p->by_stack, hash), id;

        while ((id = idtable_next(&p->by_stack, hash, &at))) {
                struct profile_stack *stack = pool_at(&p->stacks, id);
                if (stack->depth == depth && stack->thread == thread &&
                    !memcmp(stack->centres, ids, depth * sizeof(*ids)))
                        return stack;
        }
        return NULL;
}

static void count_tick(struct model *m, bool is_sampled)
{
        if (m->profile.ticks++ == 0)
                m->profile.is_sampled = is_sampled;
        m->changes |= MODEL_PROFILE;
}

void profile_leave_out(struct model *m, bool is_sampled)
{
        count_tick(m, is_sampled);
        m->profile.left_out++;
}

void profile_count(struct model *m, const uint32_t *centres, uint32_t depth, bool is_sampled, uint64_t thread)
{
        struct profile *p = &m->profile;
        uint64_t hash = hash_bytes(centres, depth * sizeof(*centres), thread ? hash_u64(thread, p->seed) : p->seed);
        struct profile_stack *stack = NULL;

        count_tick(m, is_sampled);
        if (is_sampled == p->is_sampled && !(stack = find(p, hash, centres, depth, thread)) && !m->bands.closed)
                stack = add(p, hash, centres, depth, thread);
        if (!stack) {
                p->left_out++;
                return;
        }
        if (stack->ticks++ == 0 && !is_sampled)
                cost_centres_check(&m->bands, centres, depth);
        stack->changed = profile_changes(p);
}

void profile_tick(struct model *m, const struct hw_event *e)
{
        uint32_t ids[MAX_STACK], depth;

        if (cost_centre_stack(e, 12, ids, &depth))
                profile_count(m, ids, depth, false, 0);
}

uint64_t profile_changes(const struct profile *p)
{
        return p->ticks + p->renames;
}

bool profile_is_sampled(const struct profile *p)
{
        return p->is_sampled;
}

uint64_t profile_ticks(const struct profile *p)
{
        return p->ticks;
}

uint32_t profile_stacks(const struct profile *p)
{
        return p->stacks.count;
}

const struct profile_stack *profile_get(const struct profile *p, uint32_t id)
{
        return id && id <= p->stacks.count ? pool_at(&p->stacks, id) : NULL;
}

uint64_t profile_left_out(const struct profile *p)
{
        return p->left_out;
}
