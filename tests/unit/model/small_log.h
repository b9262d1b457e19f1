/* SPDX-License-Identifier: BSD-3-Clause */
/* small_log.h - a short run that uses every part of the model. */
#pragma once

#include <stdio.h>

#include "tests/unit/model/events.h"

/* One collection on `cap`, with the events that the RTS writes; `other` takes part. */
static inline void tell_collection(struct feed *f, uint16_t cap, uint64_t t, uint64_t i)
{
        ev(f, HW_REQUEST_PAR_GC, cap, t, "");
        ev(f, HW_GC_START, cap, t + 100, "");
        ev(f, HW_HEAP_ALLOCATED, cap, t + 900, "48", U(0), U(1000000 * (i + 1)));
        ev(f, HW_GC_STATS_GHC, cap, t + 1000, "428884888", U(0), U(i % 2), U(i * 10), U(i * 3), U(i * 5), U(2), U(i),
           U(i * 10), U(i));
        ev(f, HW_GC_END, cap, t + 950, "");
        if (i % 2)
                ev(f, HW_HEAP_LIVE, cap, t + 1000, "48", U(0), U(5000 + i));
        ev(f, HW_HEAP_SIZE, cap, t + 1000, "48", U(0), U(8000 + i * 7 % 64));
        ev(f, HW_BLOCKS_SIZE, cap, t + 1000, "48", U(0), U(7000 + i));
        ev(f, HW_MEM_RETURN, cap, t + 1000, "4444", U(0), U(50 + i), U(20), U(7));
}

static inline void tell_identity(struct feed *f)
{
        ev(f, HW_RTS_IDENTIFIER, NONE, 1, "4t", U(0), "GHC-9.6.6 rts_thr_p");
        ev(f, HW_PROGRAM_ARGS, NONE, 1, "4zzz", U(0), "/opt/api", "+RTS", "-hi");
        ev(f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
        ev(f, HW_WALL_CLOCK_TIME, NONE, 1, "484", U(0), U(1700000000), U(0));
}

static inline void tell_definitions(struct feed *f, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++) {
                char name[32];
                snprintf(name, sizeof(name), "name%u", (unsigned)i);
                ev(f, HW_IPE, NONE, 2, "8zzzzzz", U(i), name, "1", "T", name, "Main", "a.hs");
                ev(f, HW_HEAP_PROF_COST_CENTRE, NONE, 2, "4zzz1", U(i), name, "Main", "a.hs", U(0));
        }
}

static inline void tell_census(struct feed *f, uint64_t t, uint32_t n)
{
        ev(f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, t, "8", U(0));
        for (uint32_t i = 0; i < n; i++) {
                char label[32];
                snprintf(label, sizeof(label), "0x%x", (unsigned)i);
                ev(f, HW_HEAP_PROF_SAMPLE_STRING, NONE, t, "18z", U(0), U(i + 1), label);
                ev(f, HW_HEAP_PROF_SAMPLE_STRING, NONE, t, "18z", U(0), U(i + 1), label + 1);
                ev(f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, t, "18144", U(0), U(i), U(2), U(i), U(7));
        }
        ev(f, HW_HEAP_PROF_SAMPLE_END, NONE, t, "8", U(0));
}

static inline void tell_small_log(struct feed *f)
{
        tell_identity(f);
        tell_definitions(f, 60);
        for (uint32_t i = 0; i < 40; i++) {
                uint64_t t = (i + 1) * SECOND;
                uint16_t cap = (uint16_t)(i % 9);
                ev(f, HW_BLOCK_MARKER, cap, t, "482", U(4000), t + SECOND, U(cap));
                ev(f, HW_RUN_THREAD, cap, t, "4", U(i));
                ev(f, HW_STOP_THREAD, cap, t + 50, "424", U(i), U(1 + i % 5), U(0));
                tell_collection(f, cap, t, i);
                ev(f, HW_USER_MARKER, cap, t, "t", "phase");
                ev(f, HW_PROF_SAMPLE_COST_CENTRE, NONE, t, "481444", U(0), U(i), U(3), U(1), U(i), U(3));
                ev(f, HW_TICKY_COUNTER_SAMPLE, NONE, t, "8888", U(i % 7), U(1), U(2), U(3));
                if (i % 8 == 0)
                        tell_census(f, t, 50 + i);
        }
        ev(f, HW_TICKY_COUNTER_DEF, NONE, 3, "82zz", U(1), U(2), "MM", "Main.go");
        ev(f, HW_CONC_MARK_BEGIN, NONE, 600, "");
        struct process_sample process = {
                .rss_bytes = 1,
                .pss_bytes = 2,
                .swap_bytes = 3,
                .cpu_ns = 4,
                .wall_ns = 8,
                .cgroup = "/a",
                .pages = { .rss_bytes = 9, .files_bytes = 1, .dirty_bytes = 2, .shared_bytes = 3, .lazy_free_bytes = 4 }
        };
        model_process(f->m, 41 * SECOND, &process);
        model_end_run(f->m, true);
}
