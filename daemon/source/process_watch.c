/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/process_watch.h"

#include "daemon/source/cgroup.h"
#include "daemon/source/procfs.h"

#define PSS_EVERY 10

void process_watch_begin(struct process_watch *w)
{
        w->seen = false;
        w->pss_bytes = UNKNOWN_U64;
        w->pss_age = 0;
        w->oom_file[0] = '\0';
}

static void first_seen(struct process_watch *w, uint32_t pid)
{
        w->seen = true;
        if (!cgroup_oom_file(w->root, pid, w->oom_file, sizeof(w->oom_file)))
                w->oom_file[0] = '\0';
        else
                w->oom_kills = cgroup_oom_kills(w->oom_file);
}

enum process_state process_watch_look(struct process_watch *w, uint32_t pid, uint64_t start_wall_ns, uint64_t wall_ns,
                                      struct process_sample *ret_sample)
{
        if (!procfs_is_process(w->root, pid, start_wall_ns) || procfs_sample(w->root, pid, ret_sample) != 0)
                return w->seen ? PROCESS_GONE : PROCESS_NEVER_SEEN;
        if (!w->seen)
                first_seen(w, pid);
        if (w->pss_age++ % PSS_EVERY == 0)
                w->pss_bytes = procfs_pss(w->root, pid);
        ret_sample->pss_bytes = w->pss_bytes;
        ret_sample->wall_ns = wall_ns;
        return PROCESS_ALIVE;
}

bool process_watch_alive(const struct process_watch *w, uint32_t pid, uint64_t start_wall_ns)
{
        struct process_sample sample;

        return w->seen && procfs_is_process(w->root, pid, start_wall_ns) && procfs_sample(w->root, pid, &sample) == 0;
}

bool process_watch_oom_killed(const struct process_watch *w)
{
        uint64_t kills = w->oom_file[0] ? cgroup_oom_kills(w->oom_file) : UNKNOWN_U64;

        return kills != UNKNOWN_U64 && kills > w->oom_kills;
}
