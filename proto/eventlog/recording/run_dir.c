/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/run_dir.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/descriptors.h"
#include "proto/base/digits.h"
#include "proto/base/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/eventlog/recording/frame.h"

/* ------------------------------------------------------------------- names */

void run_name_make(char name[RUN_NAME_MAX + 1], uint64_t wall_ns)
{
        time_t seconds = (time_t)(wall_ns / NS_PER_S);
        struct tm utc;
        char day[24];

        gmtime_r(&seconds, &utc);
        strftime(day, sizeof(day), "%Y%m%dT%H%M%S", &utc);
        snprintf(name, RUN_NAME_MAX + 1, "%s.%03uZ", day, (unsigned)(wall_ns % NS_PER_S / NS_PER_MS));
}

bool run_name_read(const char *name, uint64_t *ret_wall_ns)
{
        struct tm utc = { 0 };
        char again[RUN_NAME_MAX + 1], *rest = strptime(name, "%Y%m%dT%H%M%S", &utc);
        unsigned ms;

        if (!rest || sscanf(rest, ".%3uZ", &ms) != 1)
                return false;
        time_t seconds = timegm(&utc);
        if (seconds < 0)
                return false;
        *ret_wall_ns = (uint64_t)seconds * NS_PER_S + ms * NS_PER_MS;
        run_name_make(again, *ret_wall_ns);
        return !strcmp(name, again);
}

void segment_name_make(char name[SEGMENT_NAME_BYTES], uint32_t segment)
{
        snprintf(name, SEGMENT_NAME_BYTES, "%06" PRIu32 ".zst", segment);
}

uint32_t segment_name_read(const char *name)
{
        char again[SEGMENT_NAME_BYTES];
        unsigned long n = strtoul(name, NULL, 10);

        if (n == 0 || n > SEGMENTS_MAX)
                return 0;
        segment_name_make(again, (uint32_t)n);
        return strcmp(name, again) ? 0 : (uint32_t)n;
}

void profile_name_make(char name[PROFILE_NAME_BYTES], uint64_t wall_ns)
{
        char moment[RUN_NAME_MAX + 1];

        run_name_make(moment, wall_ns);
        snprintf(name, PROFILE_NAME_BYTES, PROFILE_PREFIX "%s", moment);
}

bool profile_name_is(const char *name)
{
        return !strncmp(name, PROFILE_PREFIX, strlen(PROFILE_PREFIX));
}

/* The Unix time that a profile's file began at. False: another file. */
static bool profile_name_read(const char *name, uint64_t *ret_wall_ns)
{
        return profile_name_is(name) && run_name_read(name + strlen(PROFILE_PREFIX), ret_wall_ns);
}

static bool plain_name(const char *name)
{
        return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) <= RUN_TARGET_MAX;
}

/* ----------------------------------------------------------------- looking */

/* What the indexes of one segment say. */
static void read_segment(int run, uint32_t segment, struct recorded_run *r)
{
        char name[SEGMENT_NAME_BYTES];
        struct frame_file f;

        segment_name_make(name, segment);
        if (frame_file_open(&f, run, name) != 0)
                return;
        while (frame_file_next(&f)) {
                r->last_frame = f.head.ordinal;
                r->end_offset = f.head.offset;
                r->lost_bytes += f.head.lost_bytes;
                if (r->end_wall_ns == 0 || f.head.begin_ns < r->begin_ns)
                        r->begin_ns = f.head.begin_ns;
                if (f.head.end_ns > r->end_ns)
                        r->end_ns = f.head.end_ns;
                if (f.head.wall_ns > r->end_wall_ns)
                        r->end_wall_ns = f.head.wall_ns;
        }
        frame_file_close(&f);
}

static bool is_locked(int run)
{
        int fd = openat(run, RUN_DEFINITIONS, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

        close_fd(&fd);
        return locked;
}

/* Fills in what the directory says of a run. False: it is not a run. */
static bool read_run(int target, struct recorded_run *r)
{
        int fd = openat(target, r->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        bool has_definitions = false;
        struct dirent *entry;
        struct stat st;
        uint64_t unused;

        if (!dir) {
                if (fd >= 0)
                        close(fd);
                return false;
        }
        while ((entry = readdir(dir))) {
                uint32_t n = segment_name_read(entry->d_name);
                has_definitions |= !strcmp(entry->d_name, RUN_DEFINITIONS);
                r->profiles += profile_name_read(entry->d_name, &unused);
                if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
                        r->bytes += (uint64_t)st.st_size;
                if (n && (r->first == 0 || n < r->first))
                        r->first = n;
                if (n > r->last)
                        r->last = n;
        }
        r->live = is_locked(fd);
        run_end_read(fd, &r->end);
        if (!r->live && r->end.state == RUN_END_RUNNING)
                r->end.state = RUN_END_UNKNOWN; /* its daemon was killed */
        for (uint32_t n = r->first; n && n <= r->last; n++)
                read_segment(fd, n, r);
        closedir(dir);
        return has_definitions;
}

/* ----------------------------------------------------------------- listing */

struct list {
        struct recorded_run *runs;
        size_t n, capacity;
};

static struct recorded_run *list_more(struct list *l)
{
        if (l->n == RECORDED_RUNS_MAX || !ARRAY_RESERVE(l->runs, l->capacity, l->n + 1))
                return NULL;
        return memset(&l->runs[l->n], 0, sizeof(*l->runs));
}

static void list_target(struct list *l, int directory, const char *target)
{
        int fd = openat(directory, target, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        struct recorded_run *r;
        struct dirent *entry;

        if (!dir && fd >= 0)
                close(fd);
        while (dir && (entry = readdir(dir)) && (r = list_more(l))) {
                if (!run_name_read(entry->d_name, &r->begin_wall_ns))
                        continue;
                snprintf(r->target, sizeof(r->target), "%s", target);
                snprintf(r->name, sizeof(r->name), "%.*s", (int)RUN_NAME_MAX, entry->d_name);
                l->n += read_run(fd, r) ? 1 : 0;
        }
        if (dir)
                closedir(dir);
}

static int compare_runs(const void *a, const void *b)
{
        const struct recorded_run *x = a, *y = b;
        int order = strcmp(x->target, y->target);

        return order ? order : strcmp(x->name, y->name);
}

int recorded_runs(const char *directory, const char *target, struct recorded_run **ret_runs, struct error *error)
{
        struct list l = { .runs = calloc(1, sizeof(*l.runs)), .capacity = 1 };
        DIR *dir = opendir(directory);
        struct dirent *entry;

        if (!dir) {
                free(l.runs);
                return error_code(error, -errno, "%s: %s", directory, strerror(errno));
        }
        while ((entry = readdir(dir)))
                if (plain_name(entry->d_name) && (!target || !strcmp(entry->d_name, target)))
                        list_target(&l, dirfd(dir), entry->d_name);
        closedir(dir);
        ARRAY_SORT(l.runs, l.n, compare_runs);
        *ret_runs = l.runs;
        return (int)l.n;
}

/* ----------------------------------------------------------------- finding */

/* The run that `which` names among the n of its target, oldest first: "~1" or "-1" is the one before. NULL: none. */
static const struct recorded_run *choose_run(const struct recorded_run *runs, size_t n, const char *which)
{
        if (!which)
                return n ? &runs[n - 1] : NULL;
        if (which[0] == '~' || which[0] == '-') {
                uint64_t back;

                return digits_parse(which + 1, UINT64_MAX, &back) && back < n ? &runs[n - 1 - back] : NULL;
        }
        for (size_t i = n; i-- > 0;)
                if (*which && !strncmp(runs[i].name, which, strlen(which)))
                        return &runs[i];
        return NULL;
}

int recorded_run_find(const char *directory, const char *which, struct recorded_run *ret_run, struct error *error)
{
        const char *at = strpbrk(which, "@~");
        char target[RUN_TARGET_MAX + 1];
        struct recorded_run *runs = NULL;

        if (snprintf(target, sizeof(target), "%.*s", (int)(at ? at - which : (int)strlen(which)), which) >=
                    (int)sizeof(target) ||
            !plain_name(target))
                return error_code(error, -EINVAL, "'%.80s' names no recording; expected TARGET, TARGET~N or TARGET@RUN",
                                  which);
        int n = recorded_runs(directory, target, &runs, error);
        if (n < 0)
                return n;
        const struct recorded_run *run = choose_run(runs, (size_t)n, at && *at == '@' ? at + 1 : at);
        if (run)
                *ret_run = *run;
        free(runs);
        if (run)
                return 0;
        if (n == 0)
                return error_code(error, -ENOENT, "nothing of '%s' is recorded in %s; `heapwatch recording` lists all",
                                  target, directory);
        return error_code(error, -ENOENT,
                          "of the %d recorded runs of '%s' none is '%.40s' (recording:%s is the newest, %s~1 the one "
                          "before); `heapwatch recording` lists them",
                          n, target, *at == '@' ? at + 1 : at, target, target);
}

int recorded_run_path(char path[RECORDED_PATH_MAX], const char *directory, const struct recorded_run *run)
{
        int n = snprintf(path, RECORDED_PATH_MAX, "%s/%s/%s", directory, run->target, run->name);

        return n < 0 || n >= (int)RECORDED_PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Its clocks meet where the newest byte was read. */
static uint64_t event_time(const struct recorded_run *run, uint64_t wall_ns)
{
        return run->end_wall_ns > wall_ns ? sub_sat(run->end_ns, run->end_wall_ns - wall_ns) : run->end_ns;
}

bool recorded_run_profile(const char *directory, const struct recorded_run *run, uint64_t from_ns, uint64_t to_ns,
                          char path[RECORDED_PATH_MAX], uint64_t *ret_wall_ns)
{
        DIR *dir = recorded_run_path(path, directory, run) == 0 ? opendir(path) : NULL;
        const size_t n = dir ? strlen(path) : 0;
        const struct dirent *entry;
        uint64_t wall_ns;

        *ret_wall_ns = 0;
        while (dir && (entry = readdir(dir)))
                if (profile_name_read(entry->d_name, &wall_ns) && wall_ns > *ret_wall_ns &&
                    event_time(run, wall_ns) >= from_ns && event_time(run, wall_ns) <= to_ns &&
                    snprintf(path + n, RECORDED_PATH_MAX - n, "/%s", entry->d_name) < (int)(RECORDED_PATH_MAX - n))
                        *ret_wall_ns = wall_ns;
        if (dir)
                closedir(dir);
        return *ret_wall_ns > 0;
}

bool recorded_run_is_live(const char *path)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        bool live = fd >= 0 && is_locked(fd);

        close_fd(&fd);
        return live;
}

int recorded_run_delete(const char *directory, const struct recorded_run *run)
{
        char path[RECORDED_PATH_MAX], *slash;
        struct dirent *entry;
        DIR *dir = recorded_run_path(path, directory, run) == 0 ? opendir(path) : NULL;
        int r = 0;

        if (!dir)
                return -errno;
        if (is_locked(dirfd(dir)))
                r = -EBUSY;
        while (r == 0 && (entry = readdir(dir)))
                if ((segment_name_read(entry->d_name) || !strcmp(entry->d_name, RUN_DEFINITIONS) ||
                     run_end_is(entry->d_name) || profile_name_is(entry->d_name)) &&
                    unlinkat(dirfd(dir), entry->d_name, 0) != 0)
                        r = -errno;
        closedir(dir);
        if (r == 0 && rmdir(path) != 0)
                r = -errno;
        slash = strrchr(path, '/');
        if (r == 0 && slash) {
                *slash = '\0';
                (void)rmdir(path); /* other runs may be in it */
        }
        return r;
}
