/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/live.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inspect/process/stop.h"
#include "proto/base/text_out.h"

#define PAGES_AT_ONCE 512u
#define PAGES_NEAR    16u

/* How many bytes; -1 with errno. */
static ssize_t read_some(pid_t pid, uint64_t at, void *to, size_t n)
{
        struct iovec local = { to, n }, remote = { (void *)(uintptr_t)at, n }; // NOLINT(performance-no-int-to-ptr)

        return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static bool read_process(void *ctx, uint64_t at, void *to, size_t n)
{
        const struct live *l = ctx;
        size_t done = 0;

        while (done < n) {
                ssize_t k = read_some(l->pid, at + done, (uint8_t *)to + done, n - done);
                if (k < 0 && errno == EPERM) {
                        k = tracer_request(l->pid) ? read_some(l->pid, at + done, (uint8_t *)to + done, n - done) : -1;
                        errno = EPERM;
                }
                if (k <= 0)
                        return false;
                done += (size_t)k;
        }
        return true;
}

/* Pages that are in memory or swapped out, with those between two that are near. True: also when that is not known. */
static bool find_pages(int pagemap, uint64_t page_bytes, uint64_t *start, uint64_t *end)
{
        const uint64_t from = *start / page_bytes, to = (*end + page_bytes - 1) / page_bytes;
        uint64_t entries[PAGES_AT_ONCE], first = to, past = to;

        for (uint64_t at = from; at < to; at++) {
                const size_t i = (at - from) % PAGES_AT_ONCE;
                const size_t n = (size_t)(to - at < PAGES_AT_ONCE ? to - at : PAGES_AT_ONCE);
                if (i == 0 && pread(pagemap, entries, n * 8, (off_t)(at * 8)) != (ssize_t)(n * 8))
                        return true;
                if (entries[i] >> 62 != 0) {
                        first = first == to ? at : first;
                        past = at + 1;
                } else if (first < to && at - past >= PAGES_NEAR) {
                        break;
                }
        }
        if (first == to)
                return false;
        *start = first * page_bytes > *start ? first * page_bytes : *start;
        *end = past * page_bytes < *end ? past * page_bytes : *end;
        return true;
}

bool live_find_touched(pid_t pid, uint64_t *start, uint64_t *end)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/proc/%ld/pagemap", (long)pid);
        const int pagemap = open(path, O_RDONLY | O_CLOEXEC);
        if (pagemap < 0)
                return true;
        const bool found = find_pages(pagemap, (uint64_t)sysconf(_SC_PAGESIZE), start, end);
        (void)close(pagemap);
        return found;
}

static bool find_touched(void *ctx, uint64_t *start, uint64_t *end)
{
        const struct live *l = ctx;

        return live_find_touched(l->pid, start, end);
}

static FILE *open_proc(pid_t pid, const char *file)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
        return fopen(path, "re");
}

/* "55d0c2a00000-55d0c2a21000 r-xp 00001000 08:01 1234   /usr/bin/server" */
static bool add_line(struct program *p, char *line)
{
        static const char gone[] = " (deleted)";
        unsigned long long start, end, offset;
        struct mapping m;
        char permissions[5];
        int path_at = 0;

        if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, permissions, &offset, &path_at) < 4)
                return true;
        char *path = path_at ? line + path_at : line + strlen(line);
        path[strcspn(path, "\n")] = '\0';
        if (text_has_suffix(path, gone))
                path[strlen(path) - strlen(gone)] = '\0';
        m = (struct mapping){
                .start = start,
                .end = end,
                .offset = offset,
                .readable = permissions[0] == 'r',
                .writable = permissions[1] == 'w',
                .executable = permissions[2] == 'x',
                .named = path[0] && path[0] != '/' && strncmp(path, "[anon", 5) != 0,
        };
        if (path[0] == '/' && !(m.file = program_file(p, path)))
                return false;
        return program_add_mapping(p, m);
}

static bool read_maps(struct program *p, FILE *f)
{
        char *line = NULL;
        size_t size = 0;
        bool good = true;

        while (good && getline(&line, &size, f) > 0)
                good = add_line(p, line);
        free(line);
        return good;
}

bool live_remap(struct program *p, pid_t pid)
{
        FILE *maps = open_proc(pid, "maps");
        struct program before = *p;

        if (!maps)
                return false;
        p->mappings = NULL;
        p->n_mappings = p->mappings_capacity = 0;
        const bool good = read_maps(p, maps) && p->n_mappings > 0;
        (void)fclose(maps);
        if (good) {
                free(before.mappings);
                return true;
        }
        free(p->mappings);
        p->mappings = before.mappings;
        p->n_mappings = before.n_mappings;
        p->mappings_capacity = before.mappings_capacity;
        return false;
}

static enum opened open_process(struct live *l, struct error *error)
{
        FILE *maps = open_proc(l->pid, "maps");
        uint64_t pair[2];
        uint8_t byte;

        if (!maps) {
                if (errno == ENOENT)
                        (void)error_set(error, "there is no process %ld; `heapwatch ps` lists GHC-compiled programs",
                                        (long)l->pid);
                else
                        (void)error_set(error, "process %ld may not be inspected: %s", (long)l->pid, strerror(errno));
                return errno == ENOENT ? OPENED_BAD : OPENED_REFUSED;
        }
        const bool good = read_maps(&l->program, maps);
        (void)fclose(maps);
        if (!good || l->program.n_mappings == 0) {
                (void)error_set(error, "the mappings of process %ld cannot be read: %s", (long)l->pid,
                                good ? "it has none, or has just ended" : "out of memory");
                return OPENED_BAD;
        }
        FILE *auxv = open_proc(l->pid, "auxv");
        while (auxv && fread(pair, sizeof(pair), 1, auxv) == 1 && pair[0] != AT_NULL)
                if (pair[0] == AT_ENTRY)
                        l->program.entry = pair[1];
        if (auxv)
                (void)fclose(auxv);
        errno = 0;
        if (!memory_read(&l->memory, l->program.entry ? l->program.entry : l->program.mappings[0].start, &byte, 1) &&
            errno == EPERM) {
                (void)error_set(error, "process %ld may not be inspected: %s", (long)l->pid, strerror(EPERM));
                return OPENED_REFUSED;
        }
        const struct file_opener opener = files_opener(&l->files);
        return program_load(&l->program, &opener, error) ? OPENED : OPENED_BAD;
}

enum opened live_open(struct live *l, pid_t pid, struct error *error)
{
        *l = (struct live){ .pid = pid };
        l->memory = (struct memory){ .read = read_process, .find_touched = find_touched, .ctx = l };
        l->program = (struct program){ .memory = &l->memory, .machine = MACHINE_HERE };
        l->files = (struct files){ .pid = pid, .program = &l->program };
        const enum opened result = open_process(l, error);
        if (result != OPENED)
                live_close(l);
        return result;
}

void live_close(struct live *l)
{
        program_done(&l->program);
        files_close(&l->files);
        memory_forget(&l->memory);
}
