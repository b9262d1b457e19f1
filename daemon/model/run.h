/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the identity of one run of a target, from its log's first events. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/process.h"

#include "heapwatch/eventlog.h"

enum breakdown { /* numbers of HEAP_PROF_BEGIN and of the wire */
                 BREAKDOWN_NONE = 0,
                 BREAKDOWN_COST_CENTRE_STACK = 1,
                 BREAKDOWN_MODULE = 2,
                 BREAKDOWN_CLOSURE_DESCRIPTION = 3,
                 BREAKDOWN_TYPE = 4,
                 BREAKDOWN_RETAINER = 5,
                 BREAKDOWN_BIOGRAPHY = 6,
                 BREAKDOWN_CLOSURE_TYPE = 7,
                 BREAKDOWN_INFO_TABLE = 8,
                 BREAKDOWN_ERA = 9
};

#define RUN_MAX_ARGS 256
#define RUN_MAX_PIDS 4

struct run {
        uint32_t ordinal;               /* within the target, from 1; 0 = no run yet */
        const char *program;            /* base name of argument 0; NULL until known */
        const char *args[RUN_MAX_ARGS]; /* all arguments as given, RTS options included */
        uint32_t n_args;
        const char *rts_identifier; /* "GHC-9.0.2 rts_thr_l"; NULL until known */
        char ghc_version[32];       /* "9.0.2"; "" until known */
        char rts_way[32];           /* "rts_thr_l" */
        uint32_t ghc_number;        /* 900 = 9.0, 910 = 9.10 ...: major * 100 + minor; 0 until known */
        bool threaded;              /* valid once rts_way is known */
        bool profiled;
        uint32_t pid, parent_pid;    /* 0 until known */
        uint32_t pids[RUN_MAX_PIDS]; /* all that its log names: several where others wrote into it, or merged */
        uint32_t n_pids;             /* beyond RUN_MAX_PIDS not counted */
        bool deleted_capsets;        /* as a runtime does last: an end marker then is no damage */
        uint32_t host_pid;           /* the process here, if it is in another namespace of processes; else 0 */
        uint64_t start_wall_ns;      /* Unix time of event time 0 as it began; UNKNOWN_U64 until known */
        int64_t clock_step_ns;       /* by how much the wall clock has left that of events since, by steps and sleep */
        uint32_t capabilities;       /* highest seen */
        uint32_t generations;        /* 0 until known */
        uint64_t max_heap_bytes;     /* -M; 0 = unlimited; UNKNOWN_U64 until known */
        uint64_t allocation_area_bytes; /* UNKNOWN_U64 until known, as the next two */
        uint64_t megablock_bytes;
        uint64_t block_bytes;
        enum breakdown breakdown;  /* NONE until known; from HEAP_PROF_BEGIN, else from -h in the arguments */
        uint64_t census_period_ns; /* UNKNOWN_U64 until known */
        bool profiled_by_agent;    /* heapwatch requests each census */
        char no_census[160];       /* why the agent makes no census now; "" when it does */
        uint64_t tick_interval_ns; /* of the time profile; UNKNOWN_U64 until known */
        bool process_only;         /* there is no log: all but pid, start and arguments stays unknown */
        bool stop_codes_782;       /* written by 7.8.1 or 7.8.2: STOP_THREAD codes from 8 on are shifted by one */
};

/* Its process by the number that it has here. */
static inline uint32_t run_process(const struct run *run)
{
        return run->host_pid ? run->host_pid : run->pid;
}

/* Unix time of event time 0 by the wall clock of now; UNKNOWN_U64 until known. */
static inline uint64_t run_anchor_wall_ns(const struct run *run)
{
        return run->start_wall_ns == UNKNOWN_U64 ? UNKNOWN_U64 : run->start_wall_ns + (uint64_t)run->clock_step_ns;
}

/* Whether an RTS option that starts with `prefix` is among the arguments between +RTS and -RTS. */
bool run_has_rts_option(const struct run *run, const char *prefix);

/* Calls `each` for every argument between +RTS and -RTS. */
void run_each_rts_option(const struct run *run, void (*each)(void *ctx, const char *option), void *ctx);
