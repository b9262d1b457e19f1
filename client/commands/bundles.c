/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the directory itself is all that is remembered: names say when and
 * why, so limits hold over restarts of everybody. Names sort by time.
 */
#include "client/commands/bundles.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/private_directory.h"
#include "proto/base/time.h"
#include "proto/wire/action_plan.h"

#define UNFINISHED_S 7200 /* after that nobody works on it any more */
#define STAMP_BYTES  16   /* 20261122T071841Z */
#define BUNDLES_MAX  10000u
#define NAME_TRIES   100u

struct found {
        char name[NAME_MAX + 1];
        uint64_t made_ns; /* Unix time, of its name */
        uint64_t bytes;
        bool whole;
};

struct list {
        struct found *bundles;
        size_t n;
};

/* ------------------------------------------------------------------- names */

/* Letters, digits and a few more; all else becomes '_'. */
static void copy_plain(char *out, size_t size, const char *text)
{
        size_t n = 0;

        for (; *text && n + 1 < size; text++)
                out[n++] =
                        strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._", *text) ? *text : '_';
        out[n] = '\0';
}

/* False: not the name of a bundle. */
static bool read_stamp(const char *name, uint64_t *ret_ns)
{
        struct tm tm = { .tm_isdst = 0 };
        const char *end = strptime(name, "%Y%m%dT%H%M%SZ-", &tm);

        if (!end)
                return false;
        *ret_ns = (uint64_t)timegm(&tm) * NS_PER_S;
        return true;
}

/* ----------------------------------------------------------------- looking */

static uint64_t counted; /* bytes: nftw has no argument for its caller */

static int count_bytes(const char *path, const struct stat *st, int kind, struct FTW *place)
{
        counted += kind == FTW_F ? (uint64_t)st->st_size : 0;
        return 0;
}

static int by_name(const void *a, const void *b)
{
        const struct found *x = a, *y = b;

        return strcmp(x->name + !x->whole, y->name + !y->whole);
}

static void see_directory(struct list *l, const char *directory, const char *name)
{
        char path[RECORDED_PATH_MAX];
        const bool whole = name[0] != '.';
        uint64_t made_ns;

        if (l->n == BUNDLES_MAX || !read_stamp(name + !whole, &made_ns) ||
            snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
                return;
        if (!ARRAY_RESERVE_NEXT(l->bundles, l->n))
                return;
        counted = 0;
        (void)nftw(path, count_bytes, 8, FTW_PHYS);
        struct found *f = &l->bundles[l->n++];
        *f = (struct found){ .made_ns = made_ns, .bytes = counted, .whole = whole };
        snprintf(f->name, sizeof(f->name), "%s", name);
}

/* Oldest first. */
static struct list list_bundles(const char *directory)
{
        struct list l = { .bundles = NULL };
        DIR *dir = opendir(directory);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                see_directory(&l, directory, entry->d_name);
        if (dir)
                closedir(dir);
        ARRAY_SORT(l.bundles, l.n, by_name);
        return l;
}

/* ------------------------------------------------------------------ limits */

/* False with a sentence: there are enough of that reason, or one of the target for it that is young. */
static bool is_allowed(const struct list *l, const char *who, const char *why, const struct bundle_limits *limits,
                       uint64_t wall_ns, struct error *error)
{
        uint64_t day = 0;

        for (size_t i = 0; i < l->n; i++) {
                const struct found *f = &l->bundles[i];
                const char *whose = f->name + !f->whole + STAMP_BYTES + 1;
                const size_t n = strlen(whose), m = strlen(why);
                const uint64_t age = sub_sat(wall_ns, f->made_ns);
                if (n <= m || whose[n - m - 1] != '-' || strcmp(whose + n - m, why) != 0)
                        continue;
                day += age < NS_PER_DAY;
                if (age < limits->apart_ns && n - m - 1 == strlen(who) && !strncmp(whose, who, n - m - 1))
                        return error_set(error, ACTION_NOT_DONE "the bundle %s is less than %s old", f->name,
                                         DURATION_TEXT(limits->apart_ns));
        }
        if (limits->per_day && day >= limits->per_day)
                return error_set(error, ACTION_NOT_DONE "%llu bundles of '%s' were made within a day",
                                 (unsigned long long)day, why);
        return true;
}

bool bundle_begin(const char *directory, const char *target, const char *why, const struct bundle_limits *limits,
                  uint64_t wall_ns, char path[RECORDED_PATH_MAX], bool *ret_limited, struct error *error)
{
        char when[STAMP_BYTES + 1], who[80], reason[80];
        int fd = private_directory_open(directory, true, error);

        *ret_limited = false;
        if (fd < 0)
                return false;
        close(fd);
        copy_plain(who, sizeof(who), target);
        copy_plain(reason, sizeof(reason), why);
        struct list l = list_bundles(directory);
        const bool allowed = is_allowed(&l, who, reason, limits, wall_ns, error);
        free(l.bundles);
        if (!allowed) {
                *ret_limited = true;
                return false;
        }
        for (unsigned i = 0; i < NAME_TRIES; i++) { /* of the first second that is free */
                char whole[RECORDED_PATH_MAX];
                time_t s = (time_t)((wall_ns + i * NS_PER_S) / NS_PER_S);
                struct tm tm;

                (void)gmtime_r(&s, &tm);
                (void)strftime(when, STAMP_BYTES + 1, "%Y%m%dT%H%M%SZ", &tm);
                int n = snprintf(path, RECORDED_PATH_MAX, "%s/.%s-%s-%s", directory, when, who, reason);
                if (n < 0 || n >= (int)RECORDED_PATH_MAX)
                        return error_set(error, "the path is too long");
                snprintf(whole, sizeof(whole), "%s/%s-%s-%s", directory, when, who, reason);
                if (access(whole, F_OK) == 0)
                        continue;
                if (mkdir(path, 0700) == 0)
                        return true;
                if (errno != EEXIST)
                        break;
        }
        return error_set(error, "%s: %s", path, strerror(errno));
}

bool bundle_end(char path[RECORDED_PATH_MAX], struct error *error)
{
        char whole[RECORDED_PATH_MAX];
        char *name = strrchr(path, '/') + 1;

        snprintf(whole, sizeof(whole), "%.*s%s", (int)(name - path), path, name + 1);
        if (rename(path, whole) != 0)
                return error_set(error, "%s: %s", whole, strerror(errno));
        memcpy(path, whole, sizeof(whole));
        return true;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
        return remove(path);
}

void bundle_remove(const char *path)
{
        (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void bundles_trim(const char *directory, uint64_t bytes, uint64_t wall_ns)
{
        struct list l = list_bundles(directory);
        uint64_t all = 0;

        for (size_t i = 0; i < l.n; i++)
                all += l.bundles[i].bytes;
        for (size_t i = 0; i + 1 < l.n; i++) {
                const struct found *f = &l.bundles[i];
                char path[RECORDED_PATH_MAX];
                const bool left = !f->whole && sub_sat(wall_ns, f->made_ns) > UNFINISHED_S * NS_PER_S;
                if (!left && (all <= bytes || !f->whole))
                        continue;
                if (snprintf(path, sizeof(path), "%s/%s", directory, f->name) >= (int)sizeof(path))
                        continue;
                bundle_remove(path);
                all -= f->bytes;
        }
        free(l.bundles);
}
