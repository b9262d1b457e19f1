/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/process_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/source/procfs.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/time.h"

#define PAGES_ONE_PART  500u             /* the share of the time that readings of one process may take: 1 / 500 */
#define PAGES_ALL_PARTS 50u              /* the same of all processes together */
#define PAGES_REST_MAX  (300 * NS_PER_S) /* between two readings */
#define LOOK_SLACK_NS   (NS_PER_S / 10)  /* looks come once a second, not to the ns */

void process_watch_begin(struct process_watch *w, uint32_t pid, uint64_t stack_start)
{
        w->seen = false;
        w->pid = pid;
        w->stack_start = stack_start;
        w->pages.rss_bytes = UNKNOWN_U64;
        w->pss_bytes = UNKNOWN_U64;
        w->pinned_bytes = 0;
        w->pages_due_ns = 0;
        w->oom_file[0] = '\0';
        w->oom_killed = false;
}

static bool is_process(const struct process_watch *w, uint32_t pid, uint64_t start_wall_ns)
{
        uint64_t ticks;

        if (w->seen && w->pid == pid)
                return procfs_start_ticks(w->root, pid, &ticks) && ticks == w->start_ticks;
        /* The kernel says that it serves the log: its own clock may be wrong, or made up (libfaketime). */
        if (w->pid == pid && w->stack_start && w->stack_start == procfs_stack_start(w->root, pid))
                return true;
        return procfs_is_process(w->root, pid, start_wall_ns);
}

/*
 * Kills count from when its control group was first seen: desktops move what has just started into one of its own. A
 * process that was killed is in the root for as long as it ends (v1).
 */
static void watch_oom_kills(struct process_watch *w, uint32_t pid)
{
        char file[PROCESS_OOM_FILE];

        if (process_watch_oom_killed(w) || !cgroup_oom_file(w->root, pid, file, sizeof(file)) ||
            !strcmp(file, w->oom_file))
                return;
        (void)snprintf(w->oom_file, sizeof(w->oom_file), "%s", file);
        w->oom_kills = cgroup_oom_kills(file);
}

/* How many processes are looked at in a second; each look is counted. All looks are the event loop's. */
static uint64_t count_poll(uint64_t wall_ns)
{
        static uint64_t second, looks, looks_before;

        if (wall_ns / NS_PER_S != second) {
                second = wall_ns / NS_PER_S;
                looks_before = looks;
                looks = 0;
        }
        looks++;
        return looks > looks_before ? looks : looks_before;
}

/* RSS is that of the reading when there is one now, so that its parts add up to it. */
static void put_pages(struct process_watch *w, struct process_sample *sample)
{
        sample->pages.wall_ns = sample->wall_ns;
        if (w->pages.rss_bytes == UNKNOWN_U64)
                return;
        sample->pages = w->pages;
        sample->pss_bytes = w->pss_bytes;
        if (w->pages.wall_ns == sample->wall_ns) {
                w->pinned_bytes = sub_sat(sample->files_bytes, w->pages.files_bytes);
                sample->rss_bytes = w->pages.rss_bytes;
                sample->files_bytes = w->pages.files_bytes;
        } else if (sample->files_bytes != UNKNOWN_U64) {
                sample->files_bytes = sub_sat(sample->files_bytes, w->pinned_bytes);
        }
}

enum process_state process_watch_poll(struct process_watch *w, uint32_t pid, uint64_t start_wall_ns, uint64_t wall_ns,
                                      struct process_sample *ret_sample)
{
        const int r = is_process(w, pid, start_wall_ns) ? procfs_sample(w->root, pid, ret_sample) : -ESRCH;

        if (r != 0)
                return !w->seen ? PROCESS_NEVER_SEEN : r == -ENODATA ? PROCESS_OPAQUE : PROCESS_GONE;
        if (!w->seen || w->pid != pid) {
                if (w->pid != pid || !w->stack_start)
                        w->stack_start = procfs_stack_start(w->root, pid);
                w->seen = true;
                w->pid = pid;
                if (!procfs_start_ticks(w->root, pid, &w->start_ticks))
                        w->pid = 0; /* as if not seen */
                w->oom_file[0] = '\0';
                w->oom_killed = false;
        }
        watch_oom_kills(w, pid);
        ret_sample->wall_ns = wall_ns;
        /* The kernel's walk over the pages is this thread's time. A clock that is set back makes a reading due. */
        const uint64_t all_parts = PAGES_ALL_PARTS * count_poll(wall_ns);

        if (wall_ns >= w->pages_due_ns || w->pages_due_ns - wall_ns > PAGES_REST_MAX) {
                uint64_t began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
                if (smaps_read(w->root, pid, &w->pages, &w->pss_bytes))
                        w->pages.wall_ns = wall_ns;
                else
                        w->pages.rss_bytes = UNKNOWN_U64;
                uint64_t cost = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began;
                uint64_t rest =
                        sub_sat(cost * (all_parts > PAGES_ONE_PART ? all_parts : PAGES_ONE_PART), LOOK_SLACK_NS);
                w->pages_due_ns = wall_ns + (rest < PAGES_REST_MAX ? rest : PAGES_REST_MAX);
        }
        put_pages(w, ret_sample);
        return PROCESS_ALIVE;
}

bool process_watch_alive(const struct process_watch *w, uint32_t pid, uint64_t start_wall_ns)
{
        struct process_sample sample;

        return w->seen && is_process(w, pid, start_wall_ns) && procfs_sample(w->root, pid, &sample) != -ESRCH;
}

bool process_watch_executed(const struct process_watch *w)
{
        const uint64_t now = w->seen && w->stack_start ? procfs_stack_start(w->root, w->pid) : 0;
        uint64_t ticks;

        return now && now != w->stack_start && procfs_start_ticks(w->root, w->pid, &ticks) && ticks == w->start_ticks;
}

bool process_watch_oom_killed(struct process_watch *w)
{
        uint64_t kills = w->oom_file[0] ? cgroup_oom_kills(w->oom_file) : UNKNOWN_U64;

        w->oom_killed |= kills != UNKNOWN_U64 && kills > w->oom_kills;
        return w->oom_killed;
}
