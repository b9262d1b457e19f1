/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a stack of what is being done. The clock is read whenever its top changes, and the time since then goes to
 * what was on top: 25 ns. Processor time is a system call, 0.3 us, made only at both ends of a turn. A turn is a
 * callback that reads up to 256 KiB or answers requests for up to 5 ms.
 *
 * The longest turn is by processor time: by the clock, a busy machine would decide it. Waiting uses none, so that a
 * turn does not wait is tested separately (a terminal that is not read, a pipe that is full).
 */
#include "daemon/source/loop/watchdog.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/log.h"
#include "proto/base/clock.h"

#define DEPTH_MAX 8

struct minute {
        struct watchdog_turn longest;
        uint64_t number;
};

static struct {
        enum watchdog_kind stack[DEPTH_MAX];
        unsigned depth;
        uint64_t since_ns;                   /* when the top last changed */
        uint64_t begun_ns, begun_cpu_ns;     /* of the current turn */
        uint64_t round_cpu_ns, turns_cpu_ns; /* at the end of the last round; of turns since then */
        struct watchdog_turn now, longest;
        struct minute minutes[2];
        struct watchdog_share shares[WATCHDOG_KINDS];
        bool disabled;
} w;

static const struct watchdog_turn none;

const char *watchdog_kind_name(enum watchdog_kind kind)
{
        static const char *const names[WATCHDOG_KINDS] = { "unknown", "source", "rules",   "publish",
                                                           "request", "reload", "removal", "housekeeping" };

        return names[kind < WATCHDOG_KINDS ? kind : 0];
}

/* ---------------------------------------------------------------------- a turn */

static void turn_is_over(struct watchdog_turn *t, uint64_t now_ns)
{
        for (unsigned k = 1; k < WATCHDOG_KINDS; k++)
                if (t->part_ns[k] > t->part_ns[t->kind] || !t->kind)
                        t->kind = (enum watchdog_kind)k;
        t->ended_wall_ns = clock_wall_ns();
        if (t->cpu_ns > w.longest.cpu_ns)
                w.longest = *t;
        const uint64_t number = now_ns / WATCHDOG_RECENT_NS;
        struct minute *m = &w.minutes[number % 2];
        if (m->number != number)
                *m = (struct minute){ .number = number };
        if (t->cpu_ns >= m->longest.cpu_ns)
                m->longest = *t;
        if (t->wall_ns > WATCHDOG_LONG_NS) {
                char parts[256];
                /* What the turn did: " source_ms=80 rules_ms=40". */
                size_t size = sizeof(parts);
                size_t used = 0;

                parts[0] = 0;
                for (unsigned k = 1; k < WATCHDOG_KINDS && used < size; k++) {
                        if (t->part_ns[k] < 1000000)
                                continue;
                        int n = snprintf(parts + used, size - used, " %s_ms=%llu",
                                         watchdog_kind_name((enum watchdog_kind)k),
                                         (unsigned long long)(t->part_ns[k] / 1000000));
                        used += n > 0 ? (size_t)n : 0;
                }
                if (t->cpu_ns >= WATCHDOG_LONG_NS)
                        log_warning("turn_ms=%llu cpu_ms=%llu kind=%s target=%s the loop was away so long:%s",
                                    (unsigned long long)(t->wall_ns / 1000000),
                                    (unsigned long long)(t->cpu_ns / 1000000), watchdog_kind_name(t->kind),
                                    t->target[0] ? t->target : "-", parts);
                else
                        log_info("turn_ms=%llu cpu_ms=%llu kind=%s target=%s the loop had no processor, or waited:%s",
                                 (unsigned long long)(t->wall_ns / 1000000), (unsigned long long)(t->cpu_ns / 1000000),
                                 watchdog_kind_name(t->kind), t->target[0] ? t->target : "-", parts);
        }
}

/* ----------------------------------------------------------------------- pairs */

/* The time since the top changed is the top's. */
static void settle_turn(uint64_t now_ns)
{
        if (w.depth > 0)
                w.now.part_ns[w.stack[w.depth - 1]] += now_ns - w.since_ns;
        w.since_ns = now_ns;
}

void watchdog_begin(enum watchdog_kind kind)
{
        if (w.disabled)
                return;
        const uint64_t now_ns = clock_mono_ns();

        assert(w.depth < DEPTH_MAX);
        settle_turn(now_ns);
        if (w.depth == 0) {
                w.now = (struct watchdog_turn){ .kind = 0 };
                w.begun_ns = now_ns;
                w.begun_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        w.stack[w.depth++] = kind;
}

void watchdog_end(void)
{
        if (w.disabled)
                return;
        const uint64_t now_ns = clock_mono_ns();

        assert(w.depth > 0);
        settle_turn(now_ns);
        if (--w.depth > 0)
                return;
        w.now.wall_ns = now_ns - w.begun_ns;
        w.now.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - w.begun_cpu_ns;
        w.turns_cpu_ns += w.now.cpu_ns;
        for (unsigned k = 1; k < WATCHDOG_KINDS; k++) {
                struct watchdog_share *s = &w.shares[k];
                s->times += w.now.part_ns[k] > 0;
                s->time_ns += w.now.part_ns[k];
                if (w.now.part_ns[k] > s->longest_ns)
                        s->longest_ns = w.now.part_ns[k];
        }
        turn_is_over(&w.now, now_ns);
}

void watchdog_of(const char *target)
{
        if (w.depth > 0 && !w.now.target[0])
                (void)snprintf(w.now.target, sizeof(w.now.target), "%s", target);
}

void watchdog_disable(void)
{
        w.disabled = true;
}

void watchdog_round(void)
{
        const uint64_t cpu = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), rest = cpu - w.round_cpu_ns - w.turns_cpu_ns;

        if (w.round_cpu_ns > 0 && rest > w.longest.cpu_ns) { /* outside any pair; may be several callbacks */
                struct watchdog_turn t = { .wall_ns = rest, .cpu_ns = rest };
                t.part_ns[WATCHDOG_HOUSEKEEPING] = rest;
                turn_is_over(&t, clock_mono_ns());
        }
        w.round_cpu_ns = cpu;
        w.turns_cpu_ns = 0;
}

/* --------------------------------------------------------------------- reading */

const struct watchdog_turn *watchdog_longest(void)
{
        return &w.longest;
}

const struct watchdog_turn *watchdog_recent(void)
{
        const uint64_t number = clock_mono_ns() / WATCHDOG_RECENT_NS;
        const struct watchdog_turn *found = &none;

        for (unsigned i = 0; i < 2; i++) {
                const struct minute *m = &w.minutes[i];
                if (number - m->number <= 1 && m->longest.cpu_ns > found->cpu_ns)
                        found = &m->longest;
        }
        return found;
}

const struct watchdog_share *watchdog_share(enum watchdog_kind kind)
{
        return &w.shares[kind < WATCHDOG_KINDS ? kind : 0];
}
