/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inside.h - watching a program from inside, with the agent (docs/AGENT.md):
 * whether that is possible, and the environment for it.
 *
 * A program without GHC's runtime, such as a shell or a wrapper script, passes
 * the agent on: the first GHC-compiled program below it is watched. So do the
 * tools that build before they run (cabal, stack), and compilers below them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/cli/options.h"
#include "client/launch/program/agent_fit.h"
#include "proto/base/error.h"

/* census_options.c: what heap censuses may cost the program: options of `run` and `attach`, settings of the agent. */

struct census_options {
        const char *budget;    /* percent; NULL: not given */
        uint64_t max_pause_ns; /* 0: not given */
};

#define OPTIONS_OF_CENSUSES(T, m)                                                                                      \
        OPTION_TEXT("budget", 0, "PERCENT", T, m.budget, COMPLETE_NOTHING,                                             \
                    "share of the time that heap censuses may pause the program: expensive ones are made "             \
                    "less often; 0: no limit (default: 0.05, and up to 1 while live data rises)"),                     \
                OPTION_DURATION("max-pause", 0, T, m.max_pause_ns, 1000, UINT64_C(86400000000000),                     \
                                "make no census that would pause the program longer, and none after one that did "     \
                                "(default: 250ms; 24h: no limit): every face says so")

/* 0, or EXIT_USAGE after a report. */
int census_options_check(const struct command *c, const struct census_options *o);

/* The agent's settings: "budget=1;max-pause=0.05;", "" without any. Returns `out`. */
char *census_options_settings(const struct census_options *o, char *out, size_t size);

#define INSIDE_CLAIM ".pid" /* behind the path of the socket */

struct inside {
        char preload[4352];  /* value of LD_PRELOAD */
        char settings[4352]; /* value of HEAPWATCH_AGENT */
        bool wrapper;        /* the program itself is not GHC-compiled */
        bool skips;          /* tools below a wrapper are passed over, see inside_skips */
        enum obstacle
                obstacle; /* why the agent cannot watch the program; OBSTACLE_NONE: it can, or is not GHC-compiled */
};

/* What the user wants. */
struct inside_wish {
        const char *heap_profile; /* NULL: not given */
        const char *rts;          /* "": none given */
        bool follow;              /* also the programs that it starts */
        const struct census_options *censuses;
};

/* Whether the agent itself makes heap profiles of this kind, or none; the runtime makes the others, by its option. */
bool inside_makes_profile(const char *kind);

/* The agent for the program at `path`, with its socket at `socket`. False with an error message: it cannot be used. */
bool inside_plan(struct inside *ret, const char *path, const char *socket, const struct inside_wish *wish,
                 struct error *error);

/* In the child, before exec. False: out of memory. */
bool inside_enter(const struct inside *inside);

/* Whether the agent skips programs of that name, which build or start others. */
bool inside_skips(const char *name);

/* Whether a program has taken the socket; also after its end. */
bool inside_claimed(const char *socket);

/* The process that has taken it; 0: none, or it has not said so yet. */
pid_t inside_owner(const char *socket);

/* GHC-compiled programs that were started after the one that has taken it, and are not watched: the first of them. */
struct inside_others {
        unsigned count; /* 0: none */
        pid_t pid;
        char name[128];
};

struct inside_others inside_others(const char *socket);

/* Whether the process that has taken it lives, and has executed no other program. */
bool inside_owner_lives(const char *socket);

/* Whether process `pid`, which has taken it, has executed another program since, or itself again. */
bool inside_has_executed(const char *socket, pid_t pid);

/* Whether it or a process that it has forked lives, and has executed no other program. */
bool inside_forked_lives(const char *socket);

/* The path of the claim, which its owner and the processes that it forks have open. Valid until the next call. */
const char *inside_claim(const char *socket);

/* Removes what killed programs left beside the socket, and the claim. */
void inside_clean(const char *socket);

/* outside.c: whether a program can be watched from outside: its memory read while it runs (docs/INSIDE.md). */

/*
 * Tries it once; a program that has just been started (`is_new`), whose heap may be still to come, for a second. It is
 * neither stopped nor changed. False with a sentence: its heap is not understood, or the kernel does not let us read
 * it.
 */
bool outside_try(pid_t pid, bool is_new, struct error *error);
