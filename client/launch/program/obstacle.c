/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/program/agent_fit.h"

#include <stdio.h>
#include <string.h>

static const struct {
        const char *reason, *remedy;
} words[OBSTACLE_COUNT] = {
        [OBSTACLE_NONE] = { "", "" },
        [OBSTACLE_NOT_GHC] = { "it is not a GHC-compiled program", "" },
        [OBSTACLE_STRIPPED] = { "it is stripped, so the variables of its runtime cannot be found",
                                "build it without stripping (cabal: --disable-executable-stripping, or "
                                "executable-stripping: False; stack: --no-strip; dpkg: DEB_BUILD_OPTIONS=nostrip)" },
        [OBSTACLE_SHARED_RUNTIME] = { "its runtime is a shared library, whose variables cannot be found",
                                      "link it without -dynamic" },
        [OBSTACLE_LOADED_RUNTIME] = { "GHC's runtime is in a library that it has loaded", "" },
        [OBSTACLE_NO_EVENTLOG] = { "its runtime has no eventlog", "link it with -eventlog" },
        [OBSTACLE_OTHER_LIBC] = { "it does not use glibc as a shared library, whose dlopen is needed",
                                  "link the agent into it (docs/AGENT.md)" },
        [OBSTACLE_PRIVILEGED] = { "it is started with the rights of another user or group (setuid, setgid, "
                                  "capabilities), so nothing can be loaded into it",
                                  "attach to it as root: heapwatch attach PID" },
        [OBSTACLE_TRACED] = { "another process traces it", "end that debugger or tracer" },
        [OBSTACLE_STOPPED] = { "it is stopped (SIGSTOP or Ctrl-Z)",
                               "let it go on (kill -CONT PID), then detach and attach again" },
        [OBSTACLE_OTHER_MACHINE] = { "the agent can be loaded into running programs on x86-64 only",
                                     "start it with `heapwatch run`" },
        [OBSTACLE_ENVIRONMENT] = { "it was started with an environment that had been cleared (sudo, env -i, a "
                                   "container)",
                                   "attach to it while it runs: heapwatch attach PID" },
        [OBSTACLE_SKIPPED] = { "it is one of the tools that build or start programs, which are skipped by their names",
                               "run it by itself: heapwatch run -- TOOL ARGUMENT..." },
        [OBSTACLE_UNREACHABLE] = { "the agent could not start in it (a sandbox, container or chroot whose file system "
                                   "is read-only, or lacks the agent's library or heapwatch's directory)",
                                   "let it have heapwatch's directory, writable, and the agent's library "
                                   "(bwrap --bind, podman -v)" },
};

bool obstacle_can_inject(void)
{
#if defined(__x86_64__)
        return true;
#else
        return false;
#endif
}

enum obstacle obstacle_of(const struct agent_fit *f)
{
        if (!f->ghc)
                return OBSTACLE_NOT_GHC;
        if (f->stripped)
                return f->shared_runtime ? OBSTACLE_SHARED_RUNTIME : OBSTACLE_STRIPPED;
        if (!f->eventlog && strncmp(f->version, "9.0.", 4) != 0)
                return OBSTACLE_NO_EVENTLOG;
        if (!f->loader && !f->agent)
                return OBSTACLE_OTHER_LIBC;
        if (f->privileged && !f->agent)
                return OBSTACLE_PRIVILEGED;
        return OBSTACLE_NONE;
}

const char *obstacle_reason(enum obstacle obstacle)
{
        return words[obstacle].reason;
}

const char *obstacle_remedy(enum obstacle obstacle)
{
        return words[obstacle].remedy;
}

void obstacle_sentence(enum obstacle obstacle, const char *reason, char *ret, size_t size)
{
        const char *remedy = words[obstacle].remedy;

        (void)snprintf(ret, size, "%.450s%s%.220s", reason ? reason : words[obstacle].reason,
                       remedy[0] ? OBSTACLE_REMEDY : "", remedy);
}
