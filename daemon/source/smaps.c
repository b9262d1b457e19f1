/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: smaps has a header line for each mapping ("START-END PERMISSIONS OFFSET DEVICE INODE PATH") and lines "KEY:
 * N kB" below it; smaps_rollup has the same lines once, as sums. One parser adds up either of them. smaps also shows
 * which pages are the runtime's heap, so it comes first; a process with very many mappings is read as a sum.
 *
 * The heap: GHC reserves address space for it (1 TiB, or less under `ulimit -v`) without permissions, aligned to a
 * megablock, and makes it accessible from its start on (rts/posix/OSMem.c, osReserveHeapMemory and osCommitMemory).
 * So the heap is an unbroken run of anonymous mappings at the address that the runtime asks for; else the largest that
 * is aligned and of which at least RESERVED_MIN is inaccessible: arenas of malloc reserve 64 MiB, and others as much as
 * the runtime (V8, Go, sanitizers). A runtime built without a reserved address space is not recognised.
 *
 * Anonymous counts private pages that were written to, LazyFree those of them that are freed with MADV_FREE; the rest
 * of Rss is files and memory shared without a file (of which the sum only tells the proportional size). A file in
 * memory (tmpfs) is such memory: its device is in /proc/PID/mountinfo. So are pages of files that are locked. Huge
 * pages (hugetlbfs, MAP_HUGETLB, the heap of GHC's --hugepages) are in none of the kernel's sums: they are added.
 */
#include "daemon/source/process_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/procfs.h"
#include "proto/base/array.h"
#include "proto/base/kernel_file.h"
#include "proto/base/ckd.h"

#define MAPPINGS_MAX    4096u /* beyond: smaps_rollup */
#define MEGABLOCK_BYTES (UINT64_C(1) << 20)
#define RESERVED_MIN    (UINT64_C(1) << 30)
#define RESERVED_USUAL  (UINT64_C(1) << 40) /* where nothing limits it */
#define HEAP_ASKED      UINT64_C(0x4200000000)
#define LINE_MAX_BYTES  1024 /* of a longer line (a path) the rest is skipped */
#define MEMORY_DEVICES  64u  /* mounted file systems in memory: more are taken for others */
#define CANDIDATES      32u  /* of the largest mapped files: each may have several mappings */

enum mapping_kind { MAPPING_FILE, MAPPING_ANONYMOUS, MAPPING_SHARED };

/* Bytes of one mapping, or of all. */
struct amounts {
        uint64_t rss, pss, anonymous, lazy_free, pss_shared, shared_dirty, private_dirty, locked;
};

struct device_file {
        unsigned major, minor;
        uint64_t inode;
        struct mapped_file file;
};

/* Neighbouring anonymous mappings. */
struct stretch {
        uint64_t start, end, reserved, resident;
};

struct reader {
        const char *root;
        uint32_t pid;
        unsigned mappings;
        enum mapping_kind kind;
        struct amounts now, sum;
        uint64_t shared;       /* resident pages of memory that is shared without a file, or locked */
        uint64_t dirty;        /* pages of files that are to be written back */
        struct stretch run;    /* up to the mapping before */
        struct stretch heap;   /* the reservation that it is, so far; end == 0: none */
        uint64_t start, end;   /* of the mapping now read */
        bool is_inaccessible;  /* the same */
        struct device_file at; /* the same, of a file or of shared memory with a name */
        struct device_file candidates[CANDIDATES];
        unsigned n_candidates;
        bool has_devices;
        unsigned n_devices, devices[MEMORY_DEVICES]; /* minor numbers; the major one is 0 */
};

static void close_run(struct reader *r)
{
        const bool may_be = r->run.reserved >= RESERVED_MIN && r->run.start % MEGABLOCK_BYTES == 0;

        if (r->run.start == HEAP_ASKED || (may_be && r->heap.start != HEAP_ASKED && r->run.reserved > r->heap.reserved))
                r->heap = r->run;
        r->run = (struct stretch){ 0 };
}

static int compare_files(const void *a, const void *b)
{
        const struct device_file *x = a, *y = b;

        return (x->file.resident_bytes < y->file.resident_bytes) - (x->file.resident_bytes > y->file.resident_bytes);
}

static bool is_same_file(const struct device_file *a, const struct device_file *b)
{
        return a->inode == b->inode && a->minor == b->minor && a->major == b->major;
}

/* Adds pages to the file's candidate: a new one takes the place of the smallest. */
static void add_file(struct reader *r, uint64_t resident, uint64_t dirty, uint64_t held)
{
        struct device_file *least = &r->candidates[0], *to = NULL;

        for (unsigned i = 0; i < r->n_candidates && !to; i++) {
                if (is_same_file(&r->candidates[i], &r->at))
                        to = &r->candidates[i];
                if (r->candidates[i].file.resident_bytes < least->file.resident_bytes)
                        least = &r->candidates[i];
        }
        if (!to) {
                if (r->n_candidates == CANDIDATES && least->file.resident_bytes >= resident)
                        return;
                to = r->n_candidates < CANDIDATES ? &r->candidates[r->n_candidates++] : least;
                *to = r->at;
        }
        to->file.resident_bytes += resident;
        to->file.dirty_bytes += dirty;
        to->file.held_bytes += held;
}

static void close_file(struct reader *r)
{
        const struct amounts *a = &r->now;
        const uint64_t pages = sub_sat(a->rss, a->anonymous);
        const uint64_t written = sub_sat(a->shared_dirty + a->private_dirty, a->anonymous);
        const uint64_t dirty = written < pages ? written : pages;

        const bool held = r->kind == MAPPING_SHARED || a->locked; /* mlock(2): these pages stay */

        *(held ? &r->shared : &r->dirty) += held ? pages : dirty;
        if (pages && r->at.file.path[0])
                add_file(r, pages, held ? 0 : dirty, held ? pages : 0);
}

/* Adds the mapping that was read to the sums. */
static void close_mapping(struct reader *r)
{
        const struct amounts *a = &r->now;

        if (r->kind != MAPPING_ANONYMOUS || r->start != r->run.end)
                close_run(r);
        if (r->kind == MAPPING_ANONYMOUS) {
                if (!r->run.end)
                        r->run.start = r->start;
                r->run.end = r->end;
                r->run.reserved += r->is_inaccessible ? r->end - r->start : 0;
                r->run.resident += sub_sat(a->rss, a->lazy_free);
        }
        if (r->kind != MAPPING_ANONYMOUS)
                close_file(r);
        r->sum.rss += a->rss;
        r->sum.pss += a->pss;
        r->sum.anonymous += a->anonymous;
        r->sum.lazy_free += a->lazy_free;
        r->sum.pss_shared += a->pss_shared;
}

/* The devices of file systems in memory, from lines such as "36 35 0:33 / /tmp rw,nosuid shared:5 - tmpfs ...". */
static void read_devices(struct reader *r)
{
        char path[KERNEL_PATH_MAX], line[LINE_MAX_BYTES];
        bool continues = false;

        r->has_devices = true;
        if (snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/mountinfo", r->root, r->pid) >= (int)sizeof(path))
                return;
        FILE *f = fopen(path, "re");
        if (!f)
                return;
        while (r->n_devices < MEMORY_DEVICES && fgets(line, sizeof(line), f)) {
                unsigned major, minor;
                if (!continues &&
                    (strstr(line, " - tmpfs ") || strstr(line, " - ramfs ") || strstr(line, " - hugetlbfs ")) &&
                    sscanf(line, "%*u %*u %u:%u", &major, &minor) == 2 && !major)
                        r->devices[r->n_devices++] = minor;
                continues = !strchr(line, '\n');
        }
        (void)fclose(f); /* opened for reading only */
}

static bool is_in_memory(struct reader *r)
{
        if (r->at.major)
                return false;
        if (!r->has_devices)
                read_devices(r);
        for (unsigned i = 0; i < r->n_devices; i++)
                if (r->devices[i] == r->at.minor)
                        return true;
        return false;
}

/* By the path, which is empty for anonymous memory; `private` as in "rw-p". */
static enum mapping_kind kind_of(struct reader *r, const char *path, bool private)
{
        static const char *const shared[] = { "/memfd:", "/dev/shm/", "/dev/zero", "/SYSV" };

        if (!*path || !strncmp(path, "[anon:", 6) || !strncmp(path, "/anon_hugepage", 14))
                return private ? MAPPING_ANONYMOUS : MAPPING_SHARED;
        for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
                if (!strncmp(path, shared[i], strlen(shared[i])))
                        return MAPPING_SHARED;
        return *path == '/' && is_in_memory(r) ? MAPPING_SHARED : MAPPING_FILE;
}

/* False when the line is no header. */
static bool read_header(struct reader *r, const char *line)
{
        char permissions[5];
        uint64_t start, end;
        struct device_file at = { .major = 0 };
        int path = 0;

        int n = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %x:%x %" SCNu64 " %n", &start, &end, permissions,
                       &at.major, &at.minor, &at.inode, &path);

        if (n != 6 || !path || end < start)
                return false;
        if (r->mappings++ && start >= r->end)
                close_mapping(r);
        r->now = (struct amounts){ 0 }; /* else it grew while it was read, and is listed again */
        r->start = start;
        r->end = end;
        r->at = at;
        r->kind = kind_of(r, line + path, permissions[3] == 'p');
        const size_t length = strlen(line + path), room = sizeof(r->at.file.path) - 1;
        if (r->kind != MAPPING_ANONYMOUS && line[path] == '/')
                (void)snprintf(r->at.file.path, sizeof(r->at.file.path), "%s",
                               line + path + (length > room ? length - room : 0));
        r->is_inaccessible = !strncmp(permissions, "---", 3);
        return true;
}

static void read_amount(struct reader *r, const char *line)
{
        const struct {
                const char *key;
                uint64_t *bytes;
        } amounts[] = {
                { "Rss", &r->now.rss },
                { "Pss", &r->now.pss },
                { "Anonymous", &r->now.anonymous },
                { "LazyFree", &r->now.lazy_free },
                { "Pss_Shmem", &r->now.pss_shared },
                { "Shared_Dirty", &r->now.shared_dirty },
                { "Private_Dirty", &r->now.private_dirty },
                { "Locked", &r->now.locked },
                { "Private_Hugetlb", &r->now.rss },
                { "Private_Hugetlb", &r->now.pss },
                { "Private_Hugetlb", &r->now.anonymous },
                { "Shared_Hugetlb", &r->now.rss },
                { "Shared_Hugetlb", &r->now.pss_shared },
        };
        uint64_t kb;

        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
                if (kernel_field(line, amounts[i].key, &kb) && kb < UINT64_MAX / 1024 / MAPPINGS_MAX)
                        *amounts[i].bytes += kb * 1024;
}

/* False when it cannot be read to its end, or has more than MAPPINGS_MAX mappings. */
static bool read_file(struct reader *r, const char *root, uint32_t pid, const char *name)
{
        char path[KERNEL_PATH_MAX], line[LINE_MAX_BYTES];
        bool continues = false;

        *r = (struct reader){ .root = root, .pid = pid };
        if (snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/%s", root, pid, name) >= (int)sizeof(path))
                return false;
        FILE *f = fopen(path, "re");
        if (!f)
                return false;
        while (r->mappings <= MAPPINGS_MAX && fgets(line, sizeof(line), f)) {
                const char *end = strchr(line, '\n');
                if (end)
                        line[end - line] = '\0';
                if (!continues && !read_header(r, line) && r->mappings)
                        read_amount(r, line);
                continues = !end;
        }
        const bool whole = !ferror(f) && r->mappings && r->mappings <= MAPPINGS_MAX;
        (void)fclose(f); /* opened for reading only */
        if (whole) {
                close_mapping(r);
                close_run(r);
        }
        return whole && r->sum.rss > 0; /* the file of a process that has ended is empty, or 0 throughout */
}

bool smaps_read(const char *root, uint32_t pid, struct resident_pages *ret_pages, uint64_t *ret_pss_bytes)
{
        struct reader r;
        bool by_mapping = read_file(&r, root, pid, "smaps");

        if (!by_mapping && !read_file(&r, root, pid, "smaps_rollup"))
                return false;
        const uint64_t lazy_free = r.sum.lazy_free < r.sum.anonymous ? r.sum.lazy_free : r.sum.anonymous;
        const uint64_t reserved = (r.heap.end - r.heap.start) / MEGABLOCK_BYTES * MEGABLOCK_BYTES;
        const bool has_heap = by_mapping && r.heap.end;

        *ret_pages = (struct resident_pages){
                .rss_bytes = r.sum.rss,
                .files_bytes = sub_sat(sub_sat(r.sum.rss, r.sum.anonymous), by_mapping ? r.shared : r.sum.pss_shared),
                .dirty_bytes = by_mapping ? r.dirty : UNKNOWN_U64,
                .shared_bytes = by_mapping ? r.shared : r.sum.pss_shared,
                .lazy_free_bytes = lazy_free,
                .heap_bytes = has_heap ? r.heap.resident : UNKNOWN_U64,
                .reserved_bytes = has_heap && reserved < RESERVED_USUAL ? reserved : UNKNOWN_U64,
                .wall_ns = UNKNOWN_U64,
        };
        qsort(r.candidates, r.n_candidates, sizeof(*r.candidates), compare_files);
        for (unsigned i = 0; by_mapping && i < r.n_candidates && i < MAPPED_FILES; i++)
                ret_pages->files[i] = r.candidates[i].file;
        *ret_pss_bytes = r.sum.pss;
        return true;
}
