/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a process is known by its number and the moment it began, because
 * numbers are reused: /proc/PID/stat gives that moment in clock ticks since
 * boot, /proc/stat the Unix time of the boot. See proc(5) for the fields.
 *
 * In /proc/PID/stat the program's name is in parentheses and may contain blanks
 * and parentheses itself, so the fields are counted from the last ')'.
 */
#include "daemon/source/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/ckd.h"
#include "proto/base/kernel_file.h"
#include "proto/base/clock.h"
#include "proto/base/process_stat.h"
#include "proto/base/time.h"

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD of the kernel's sched.h */

static bool stat_number(const char *text, enum process_stat field, uint64_t *ret_number)
{
        const char *p = process_stat_find(text, field);

        return p && kernel_number(p, ret_number);
}

static bool ticks_to_ns(uint64_t ticks, uint64_t *ret_ns)
{
        long per_s = sysconf(_SC_CLK_TCK);
        uint64_t whole;

        if (per_s <= 0 || ckd_mul(&whole, ticks / (uint64_t)per_s, (uint64_t)NS_PER_S))
                return false;
        return !ckd_add(ret_ns, whole, ticks % (uint64_t)per_s * NS_PER_S / (uint64_t)per_s);
}

/* Unix time of the boot. The line comes after one line per processor and one with all interrupts. */
static bool boot_wall_ns(const char *root, uint64_t *ret_ns)
{
        static const char key[] = "\nbtime ";
        static char text[256 * 1024];
        uint64_t seconds;

        if (kernel_file_read(text, sizeof(text), "%s/proc/stat", root) < 0)
                return false;
        const char *line = strstr(text, key);
        return line && kernel_number(line + sizeof(key) - 1, &seconds) && !ckd_mul(ret_ns, seconds, (uint64_t)NS_PER_S);
}

static bool read_stat(const char *root, uint32_t pid, enum process_stat field, uint64_t *ret_number)
{
        char text[2048];

        return kernel_file_read(text, sizeof(text), "%s/proc/%u/stat", root, pid) >= 0 &&
               stat_number(text, field, ret_number);
}

bool procfs_start_ticks(const char *root, uint32_t pid, uint64_t *ret_ticks)
{
        return read_stat(root, pid, STAT_START_TICKS, ret_ticks);
}

uint64_t procfs_stack_start(const char *root, uint32_t pid)
{
        uint64_t start;

        return read_stat(root, pid, STAT_STACK_START, &start) ? start : 0;
}

uint64_t procfs_start_wall_ns(const char *root, uint32_t pid)
{
        uint64_t ticks, since_boot, boot, start;

        if (!procfs_start_ticks(root, pid, &ticks) || !ticks_to_ns(ticks, &since_boot))
                return UNKNOWN_U64;
        return boot_wall_ns(root, &boot) && !ckd_add(&start, boot, since_boot) ? start : UNKNOWN_U64;
}

bool procfs_is_process(const char *root, uint32_t pid, uint64_t start_wall_ns)
{
        const uint64_t start = procfs_start_wall_ns(root, pid);

        return start != UNKNOWN_U64 && sub_abs(start, start_wall_ns) <= PROCFS_START_SLACK_NS;
}

uint32_t procfs_pid_inside(const char *root, uint32_t pid)
{
        static const char key[] = "\nNSpid:";
        char text[4096];
        uint64_t inside = 0;

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/status", root, pid) < 0)
                return 0;
        const char *at = strstr(text, key);
        for (at = at ? at + sizeof(key) - 1 : ""; *at == '\t' && kernel_number(at + 1, &inside);
             at += strcspn(at, "\t\n"))
                at++; /* from the outermost namespace that is seen to its own */
        return inside <= UINT32_MAX ? (uint32_t)inside : 0;
}

/* "name" of "1234 (name) S ...", in which it may have blanks and parentheses. */
static void program_name(const char *text, char *ret, size_t size)
{
        const char *begin = strchr(text, '('), *end = strrchr(text, ')');
        const size_t n = begin && end && end > begin ? (size_t)(end - begin - 1) : 0;

        (void)snprintf(ret, size, "%.*s", (int)n, begin ? begin + 1 : "");
}

/* Not where its first thread alone has: main of a C program may call pthread_exit(3), and leave the rest to others. */
static bool has_ended(const char *stat)
{
        const char *state = process_stat_find(stat, STAT_STATE);
        uint64_t threads;

        return !state || *state == 'X' ||
               (*state == 'Z' && (!stat_number(stat, STAT_THREADS, &threads) || threads < 2));
}

int procfs_identity(const char *root, uint32_t pid, struct process_identity *ret)
{
        struct process_identity id = { .pid = pid, .start_wall_ns = UNKNOWN_U64 };
        uint64_t parent = 0, flags = 0, boot, since_boot;
        char text[2048];

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/stat", root, pid) < 0)
                return -ESRCH;
        if (has_ended(text) || !stat_number(text, STAT_START_TICKS, &id.start_ticks))
                return -ESRCH;
        if (stat_number(text, STAT_FLAGS, &flags) && (flags & KERNEL_THREAD))
                return -ENOTSUP;
        if (stat_number(text, STAT_PARENT, &parent))
                id.parent_pid = (uint32_t)parent;
        if (ticks_to_ns(id.start_ticks, &since_boot) && boot_wall_ns(root, &boot))
                (void)ckd_add(&id.start_wall_ns, boot, since_boot);
        program_name(text, id.program, sizeof(id.program));
        const int n = kernel_file_read(id.arguments, sizeof(id.arguments), "%s/proc/%u/cmdline", root, pid);
        id.arguments_size = n > 0 ? (size_t)n : 0;
        *ret = id;
        return 0;
}

static int sample_stat(const char *root, uint32_t pid, struct process_sample *s)
{
        char text[2048];
        uint64_t user, system_ticks, sum;

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/stat", root, pid) < 0)
                return -ESRCH;
        if (has_ended(text))
                return -ESRCH;
        const char *state = process_stat_find(text, STAT_STATE);
        if (state && *state == 'Z')
                return -ENODATA;
        if (stat_number(text, STAT_USER_TICKS, &user) && stat_number(text, STAT_SYSTEM_TICKS, &system_ticks) &&
            !ckd_add(&sum, user, system_ticks))
                (void)ticks_to_ns(sum, &s->cpu_ns); /* else it stays unknown, as do these: */
        (void)stat_number(text, STAT_MINOR_FAULTS, &s->minor_faults);
        (void)stat_number(text, STAT_MAJOR_FAULTS, &s->major_faults);
        if (state && *state == 'T')
                s->stop = PROCESS_STOPPED;
        else if (state && *state == 't')
                s->stop = PROCESS_TRACED;
        else if (state && *state != 'R' && cgroup_is_frozen(root, pid))
                s->stop = PROCESS_FROZEN;
        return 0;
}

static void parse_kilobytes(const char *text, const char *key, uint64_t *ret_bytes)
{
        uint64_t kb;

        if (kernel_field(text, key, &kb))
                *ret_bytes = kb > UINT64_MAX / 1024 ? UNKNOWN_U64 : kb * 1024;
}

static void sample_status(const char *root, uint32_t pid, struct process_sample *s)
{
        char text[8192];
        uint64_t huge = 0; /* pages of hugetlbfs, which VmRSS leaves out */

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/status", root, pid) < 0)
                return;
        parse_kilobytes(text, "VmRSS", &s->rss_bytes);
        parse_kilobytes(text, "VmSize", &s->address_space_bytes);
        parse_kilobytes(text, "VmData", &s->data_bytes);
        parse_kilobytes(text, "RssFile", &s->files_bytes);
        parse_kilobytes(text, "VmSwap", &s->swap_bytes);
        parse_kilobytes(text, "HugetlbPages", &huge);
        if (s->rss_bytes != UNKNOWN_U64 && ckd_add(&s->rss_bytes, s->rss_bytes, huge))
                s->rss_bytes = UNKNOWN_U64;
        s->pages.rss_bytes = s->rss_bytes;
        s->pages.files_bytes = s->files_bytes;
        s->pages.wall_ns = s->wall_ns;
        (void)kernel_field(text, "Threads", &s->threads); /* else it stays unknown */
}

int procfs_sample(const char *root, uint32_t pid, struct process_sample *ret_sample)
{
        struct process_sample s;

        memset(&s, 0xff, sizeof(s)); /* all unknown */
        s.cgroup[0] = '\0';
        s.stop = PROCESS_NOT_STOPPED;
        for (unsigned i = 0; i < MAPPED_FILES; i++)
                s.pages.files[i].path[0] = '\0';
        s.wall_ns = clock_wall_ns();
        int r = sample_stat(root, pid, &s);
        if (r < 0)
                return r;
        sample_status(root, pid, &s);
        /* "Max address space     1073741824     unlimited     bytes" */
        static const char *const names[] = { "Max address space", "Max data size" };
        uint64_t *const limits[] = { &s.address_space_limit_bytes, &s.data_limit_bytes };
        char text[2048];

        if (kernel_file_read(text, sizeof(text), "%s/proc/%u/limits", root, pid) < 0)
                text[0] = '\0';
        for (unsigned i = 0; i < 2; i++) {
                const char *line = strstr(text, names[i]);
                if (line)
                        (void)kernel_number(line + strlen(names[i]), limits[i]); /* else unlimited */
        }
        cgroup_memory(root, pid, &s);
        cgroup_company(root, pid, s.cgroup, sizeof(s.cgroup), &s.cgroup_shared);
        *ret_sample = s;
        return 0;
}

uint64_t procfs_memory_total(const char *root)
{
        char text[4096];
        uint64_t bytes = UNKNOWN_U64;

        if (kernel_file_read(text, sizeof(text), "%s/proc/meminfo", root) >= 0)
                parse_kilobytes(text, "MemTotal", &bytes);
        return bytes;
}

uint64_t procfs_own_rss(void)
{
        char text[128];
        uint64_t pages;
        long page_bytes = sysconf(_SC_PAGESIZE);

        if (page_bytes <= 0 || kernel_file_read(text, sizeof(text), "/proc/self/statm") < 0)
                return 0;
        const char *resident = strchr(text, ' ');
        if (!resident || !kernel_number(resident, &pages) || pages > UINT64_MAX / (uint64_t)page_bytes)
                return 0;
        return pages * (uint64_t)page_bytes;
}
