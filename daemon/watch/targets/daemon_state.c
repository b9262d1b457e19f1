/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/targets.h"

#include "daemon/publish/encode.h"
#include "daemon/source/loop/memory.h"
#include "proto/base/descriptors.h"
#include "proto/base/process.h"

_Static_assert(WATCHDOG_HOUSEKEEPING == (int)HW__LOOP_TURN__KIND__KIND_HOUSEKEEPING, "the kinds on the wire are ours");

/* NULL when there was none. */
static Hw__LoopTurn *put_turn(Hw__LoopTurn *m, const struct watchdog_turn *t)
{
        if (!t->kind)
                return NULL;
        hw__loop_turn__init(m);
        PUT(m, kind, (Hw__LoopTurn__Kind)t->kind);
        PUT(m, wall_ns, t->wall_ns);
        PUT(m, cpu_ns, t->cpu_ns);
        PUT(m, ended_wall_ns, t->ended_wall_ns);
        m->target = t->target[0] ? (char *)t->target : NULL;
        return m;
}

void daemon_loop_fill(struct daemon_loop *loop, Hw__DaemonState *state)
{
        state->longest_turn = put_turn(&loop->longest, watchdog_longest());
        state->recent_turn = put_turn(&loop->recent, watchdog_recent());
        state->loop = loop->list;
        for (unsigned k = 1; k < WATCHDOG_KINDS; k++) {
                const struct watchdog_share *share = watchdog_share((enum watchdog_kind)k);
                Hw__LoopShare *m = &loop->shares[k];

                hw__loop_share__init(m);
                PUT(m, kind, (Hw__LoopTurn__Kind)k);
                PUT(m, turns, share->times);
                PUT(m, time_ns, share->time_ns);
                PUT(m, longest_ns, share->longest_ns);
                loop->list[state->n_loop++] = m;
        }
        if (memory_budget() != UNKNOWN_U64)
                PUT(state, memory_budget_bytes, memory_budget());
        state->memory_pressure = (char *)memory_words();
        if (descriptors_limit() != SIZE_MAX)
                PUT(state, descriptors_limit, descriptors_limit());
}
