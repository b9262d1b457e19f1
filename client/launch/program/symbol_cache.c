/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a file for each answer, named by its key, so that a program or signature that changes finds none, and two
 * that write at once write the same. It begins with a hash of the rest: what is cut off or damaged counts as not there.
 * The directory is ours and private, and is held open while its files are used: nobody can put another in its place.
 */
#include "client/launch/program/hidden_symbols.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/hash.h"
#include "proto/base/private_directory.h"
#include "proto/base/sibling.h"
#include "proto/base/text_out.h"
#include "proto/base/whole_file.h"

#define BYTES_MOST ((size_t)1 << 14)
#define HEAD_BYTES 17u /* the hash and a newline */
#define PATH_BYTES 64u

/* --------------------------------------------------------------------------- the key */

static bool hash_file(const char *path, uint64_t *key)
{
        struct stat st;

        if (stat(path, &st) != 0)
                return false;
        const uint64_t of[] = { st.st_dev,
                                st.st_ino,
                                (uint64_t)st.st_size,
                                (uint64_t)st.st_mtim.tv_sec,
                                (uint64_t)st.st_mtim.tv_nsec,
                                (uint64_t)st.st_ctim.tv_sec,
                                (uint64_t)st.st_ctim.tv_nsec };
        *key = hash_bytes(of, sizeof(of), *key);
        return true;
}

static int is_inside(const struct dirent *entry)
{
        return strcmp(entry->d_name, "..") != 0;
}

static bool hash_signatures(uint64_t *key)
{
        char path[PATH_MAX], file[PATH_MAX];
        struct dirent **files = NULL;

        if (!sibling_signatures(path, sizeof(path)))
                return false;
        const int n = scandir(path, &files, is_inside, alphasort);
        bool good = n >= 0 || hash_file(path, key);
        for (int i = 0; i < n; i++) {
                *key = hash_text(files[i]->d_name, *key);
                good &= hash_file(text_join(file, sizeof(file), path, "/", files[i]->d_name, NULL), key);
                free(files[i]);
        }
        free(files);
        return good;
}

uint64_t symbol_cache_key(const char *path, const char *const *names, size_t n)
{
        uint64_t key = n;
        char inspector[PATH_MAX];
        struct stat st;

        for (size_t i = 0; i < n; i++)
                key = hash_text(names[i], key);
        /* one that is a link would have other signatures beside it than we have */
        return hash_file(path, &key) && sibling_file("heapwatch-inspect", inspector, sizeof(inspector)) &&
                               lstat(inspector, &st) == 0 && S_ISREG(st.st_mode) && hash_file(inspector, &key) &&
                               hash_signatures(&key)
                       ? key
                       : 0;
}

/* ------------------------------------------------------------------------- its place */

/* A home that is another user's, as sudo may leave it, gets no directory that this user could not use. */
static int open_directory(void)
{
        const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
        const bool given = cache && cache[0] == '/';
        const char *base = given ? cache : home;
        char path[PATH_MAX];
        struct stat st;

        if (!base || base[0] != '/' || (stat(base, &st) == 0 ? st.st_uid != geteuid() : !given))
                return -1;
        (void)text_join(path, sizeof(path), base, given ? "" : "/.cache", "/heapwatch/symbols", NULL);
        return whole_file_directories(path) == 0 ? private_directory_open(path, false, NULL) : -1;
}

static void path_of(int directory, uint64_t key, char ret[PATH_BYTES])
{
        (void)snprintf(ret, PATH_BYTES, "/proc/self/fd/%d/%016" PRIx64, directory, key);
}

/* False: no more are there than may be, or it cannot be dropped. */
static bool drop_oldest(int directory)
{
        char oldest[NAME_MAX + 1] = "";
        struct timespec since = { 0, 0 };
        struct stat st;
        size_t n = 0;
        int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

        if (!d) {
                close_fd(&fd);
                return false;
        }
        for (const struct dirent *e; (e = readdir(d)) != NULL;) {
                if (fstatat(directory, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
                        continue;
                const struct timespec *at = &st.st_mtim;
                if (n++ == 0 || at->tv_sec < since.tv_sec ||
                    (at->tv_sec == since.tv_sec && at->tv_nsec < since.tv_nsec)) {
                        (void)text_join(oldest, sizeof(oldest), e->d_name, NULL);
                        since = *at;
                }
        }
        (void)closedir(d);
        return n > SYMBOL_CACHE_MOST && unlinkat(directory, oldest, 0) == 0;
}

/* ------------------------------------------------------------------------ what is kept */

static void head_of(const char *text, size_t size, uint64_t key, char ret[HEAD_BYTES + 1])
{
        (void)snprintf(ret, HEAD_BYTES + 1, "%016" PRIx64 "\n", hash_bytes(text, size, key));
}

char *symbol_cache_read(uint64_t key)
{
        char path[PATH_BYTES], head[HEAD_BYTES + 1], *text = NULL;
        size_t size = 0;
        int directory = open_directory();

        if (directory < 0)
                return NULL;
        path_of(directory, key, path);
        const int err = whole_file_read(path, BYTES_MOST, &text, &size);
        close_fd(&directory);
        if (err < 0)
                return NULL;
        if (size >= HEAD_BYTES) {
                head_of(text + HEAD_BYTES, size - HEAD_BYTES, key, head);
                if (!memcmp(text, head, HEAD_BYTES))
                        return memmove(text, text + HEAD_BYTES, size - HEAD_BYTES + 1);
        }
        free(text);
        return NULL;
}

void symbol_cache_write(uint64_t key, const char *text)
{
        char path[PATH_BYTES], head[HEAD_BYTES + 1], all[BYTES_MOST];
        const size_t size = strlen(text);
        int directory = size + HEAD_BYTES < sizeof(all) ? open_directory() : -1;

        if (directory < 0)
                return;
        path_of(directory, key, path);
        head_of(text, size, key, head);
        (void)text_join(all, sizeof(all), head, text, NULL);
        if (whole_file_write(path, all, size + HEAD_BYTES) == 0)
                while (drop_oldest(directory))
                        ;
        close_fd(&directory);
}
