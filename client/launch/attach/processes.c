/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/attach/processes.h"
#include "client/launch/program/hidden_symbols.h"
#include "heapwatch/text.h"
#include "proto/base/agent_peer.h"
#include "proto/base/agent_socket.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/digits.h"
#include "proto/base/process_stat.h"
#include "proto/base/whole_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES_MAX 65536
#define FILE_MAX      (UINT64_C(4) << 30) /* a larger program is not inspected */
#define FILES_KNOWN   64u

static const char *proc_path(pid_t pid, const char *file, char ret[64])
{
        (void)snprintf(ret, 64, "/proc/%ld/%s", (long)pid, file);
        return ret;
}

struct status {
        char state;
        int tracer;
        uid_t user; /* the effective one; (uid_t)-1: not known, as all is then */
        uint64_t rss_bytes;
};

static struct status read_status(pid_t pid)
{
        struct status s = { .user = (uid_t)-1 };
        unsigned long long kb;
        char path[64], line[4096];
        FILE *f = fopen(proc_path(pid, "status", path), "re");

        while (f && fgets(line, sizeof(line), f)) {
                (void)sscanf(line, "State: %c", &s.state);
                (void)sscanf(line, "TracerPid: %d", &s.tracer);
                (void)sscanf(line, "Uid: %*u %u", &s.user);
                if (sscanf(line, "VmRSS: %llu kB", &kb) == 1 || sscanf(line, "HugetlbPages: %llu kB", &kb) == 1)
                        s.rss_bytes += kb * 1024;
        }
        if (f)
                (void)fclose(f);
        return s;
}

static void set_obstacle(struct ghc_process *p, enum obstacle obstacle)
{
        p->obstacle = obstacle;
        (void)error_set(&p->why, "%s", obstacle_reason(obstacle));
}

struct mapped {
        bool agent, libc; /* false where that cannot be read */
};

static struct mapped read_mapped(pid_t pid)
{
        static const char *const parts[] = { AGENT_LIBRARY, "/libc.so.6", "/libc-2." };
        bool found[ARRAY_SIZE(parts)];

        (void)mapped_file_find(pid, parts, ARRAY_SIZE(parts), found);
        return (struct mapped){ .agent = found[0], .libc = found[1] || found[2] };
}

static void judge_process(struct ghc_process *p, const struct status *s, bool has_libc)
{
        set_obstacle(p, p->fit.obstacle);
        if (!p->fit.fits)
                return;
        if (!obstacle_can_inject())
                set_obstacle(p, OBSTACLE_OTHER_MACHINE);
        if (!has_libc)
                set_obstacle(p, OBSTACLE_OTHER_LIBC);
        else if (s->tracer != 0)
                set_obstacle(p, OBSTACLE_TRACED);
        else if (s->state == 'T')
                set_obstacle(p, OBSTACLE_STOPPED);
        if (p->obstacle == OBSTACLE_TRACED)
                (void)error_set(&p->why, "process %d already traces it", s->tracer);
}

/* Processes of one program are many in places, and its file may be large: it is read once. */
static bool check_file(const char *path, const struct stat *st, struct agent_fit *ret)
{
        static struct {
                dev_t device;
                ino_t inode;
                struct timespec changed;
                struct agent_fit fit;
        } known[FILES_KNOWN];
        static size_t n;

        for (size_t i = 0; i < n && i < FILES_KNOWN; i++)
                if (known[i].device == st->st_dev && known[i].inode == st->st_ino &&
                    known[i].changed.tv_sec == st->st_ctim.tv_sec && known[i].changed.tv_nsec == st->st_ctim.tv_nsec) {
                        *ret = known[i].fit;
                        return true;
                }
        if (!agent_fit_check(path, ret, NULL))
                return false;
        const size_t at = n++ % FILES_KNOWN;
        known[at].device = st->st_dev;
        known[at].inode = st->st_ino;
        known[at].changed = st->st_ctim;
        known[at].fit = *ret;
        return true;
}

/* False when it is not a GHC-compiled program, or may not be inspected. */
static bool process_read(pid_t pid, struct ghc_process *ret)
{
        char path[64], name[NAME_MAX + 1];
        struct stat st;

        *ret = (struct ghc_process){ .pid = pid, .user = (uid_t)-1 };
        if (stat(proc_path(pid, "exe", path), &st) < 0 || (uint64_t)st.st_size > FILE_MAX ||
            !process_program_name(pid, name, sizeof(name)) || !check_file(path, &st, &ret->fit) ||
            (!ret->fit.ghc && !agent_fit_check_loaded(pid, &ret->fit)))
                return false;
        const struct status status = read_status(pid);
        const struct mapped mapped = read_mapped(pid);
        (void)hw_terminal_text(ret->name, sizeof(ret->name), name);
        ret->user = status.user;
        ret->rss_bytes = status.rss_bytes;
        ret->agent = mapped.agent || ret->fit.agent;
        judge_process(ret, &status, mapped.libc);
        return true;
}

void process_reveal(struct ghc_process *p)
{
        const struct status status = read_status(p->pid);
        char path[64];

        if ((p->symbols = hidden_symbols_find(proc_path(p->pid, "exe", path), &p->fit)) != NULL)
                judge_process(p, &status, read_mapped(p->pid).libc);
}

static int by_number(const void *a, const void *b)
{
        const pid_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static size_t list_pids(pid_t *pids)
{
        DIR *d = opendir("/proc");
        const struct dirent *e;
        size_t n = 0;

        while (d && n < PROCESSES_MAX && (e = readdir(d)) != NULL)
                if (isdigit((unsigned char)e->d_name[0]))
                        pids[n++] = (pid_t)strtol(e->d_name, NULL, 10);
        if (d)
                (void)closedir(d);
        qsort(pids, n, sizeof(*pids), by_number);
        return n;
}

bool processes_each(void (*each)(void *ctx, const struct ghc_process *p), void *ctx)
{
        pid_t *pids = malloc(PROCESSES_MAX * sizeof(*pids));
        size_t n = pids ? list_pids(pids) : 0;
        struct ghc_process p;

        for (size_t i = 0; i < n; i++)
                if (process_read(pids[i], &p))
                        each(ctx, &p);
        free(pids);
        return n > 0;
}

/* ------------------------------------------------------------------- by name */

struct search {
        const char *name;
        struct ghc_process *found;
        unsigned count;
};

static void match_process(void *ctx, const struct ghc_process *p)
{
        struct search *s = ctx;

        if (strcmp(p->name, s->name) != 0)
                return;
        if (s->count++ == 0)
                *s->found = *p;
}

/* The number in a text that is one; 0: it is a name. */
static pid_t number_in(const char *text)
{
        uint64_t pid;

        return digits_parse(text, INT32_MAX, &pid) ? (pid_t)pid : 0;
}

static bool find_name(const char *name, struct ghc_process *ret, struct error *error)
{
        struct search s = { name, ret, 0 };

        if (!processes_each(match_process, &s) || s.count == 0)
                return error_set(
                        error, "no GHC-compiled program %s runs here that you may inspect; `heapwatch ps` lists those",
                        name);
        return s.count == 1 ||
               error_set(error,
                         "%u programs of that name run here; give the number of one of them, from `heapwatch ps`",
                         s.count);
}

bool process_find(const char *text, struct ghc_process *ret, struct error *error)
{
        const pid_t pid = number_in(text);
        char path[64];

        if (pid == 0)
                return find_name(text, ret, error);
        if (access(proc_path(pid, "exe", path), F_OK) != 0 && errno == ENOENT)
                return error_set(error, "there is no process %s; `heapwatch ps` lists GHC-compiled programs", text);
        return process_read(pid, ret) ||
               error_set(error, "process %s is not a GHC-compiled program, or belongs to somebody else", text);
}

bool process_number(const char *text, pid_t *ret, struct error *error)
{
        struct ghc_process p;

        *ret = number_in(text);
        if (*ret != 0)
                return true;
        if (!find_name(text, &p, error))
                return false;
        *ret = p.pid;
        return true;
}

/* ---------------------------------------------------------------- its socket */

void process_socket(const char *directory, pid_t pid, char *ret, size_t size)
{
        snprintf(ret, size, "%s/" AGENT_SOCKET_NAME, directory, (long)pid);
}

bool process_socket_apart(pid_t pid, char *ret, size_t size)
{
        char file[64], line[4096], path[256], name[64]; /* name: with a slash before it */
        const size_t n_name = (size_t)snprintf(name, sizeof(name), "/" AGENT_SOCKET_NAME, (long)pid);
        bool found = false;
        FILE *f = fopen(proc_path(pid, "net/unix", file), "re");

        while (f && !found && fgets(line, sizeof(line), f)) {
                /* it ends with the path, as whoever made the socket gave it: anybody can give any */
                const char *at = strchr(line, '/');
                const size_t n = at ? strcspn(at, "\n") : 0;
                if (n < n_name || n >= sizeof(path) || memcmp(at + n - n_name, name, n_name) != 0)
                        continue;
                snprintf(path, sizeof(path), "%.*s", (int)n, at);
                if (!agent_peer_path(pid, path, ret, size))
                        continue;
                int fd = unix_connect(ret);
                found = fd >= 0 && agent_peer_process(ret) == pid && agent_peer_listens(ret, fd);
                close_fd(&fd);
        }
        if (f)
                (void)fclose(f);
        if (!found)
                ret[0] = '\0';
        return found;
}
