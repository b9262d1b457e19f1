/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: smaps has a header line for each mapping ("START-END PERMISSIONS OFFSET DEVICE INODE PATH") and lines "KEY:
 * N kB" below it; smaps_rollup has the same lines once, as sums. One parser adds up either of them. smaps also shows
 * which pages are the runtime's heap, so it comes first; a process with very many mappings is read as a sum.
 *
 * The heap: GHC reserves address space for it (1 TiB, or less under `ulimit -v`) without permissions, aligned to a
 * megablock, and makes it accessible from its start on (rts/posix/OSMem.c, osReserveHeapMemory and osCommitMemory).
 * So the heap is an unbroken run of anonymous mappings, aligned, of which at least RESERVED_MIN is inaccessible;
 * arenas of malloc reserve 64 MiB. A runtime built without a reserved address space is not recognised.
 *
 * Anonymous counts private pages that were written to, LazyFree those of them that are freed with MADV_FREE; the rest
 * of Rss is files and memory shared without a file (of which the sum only tells the proportional size).
 */
#include "daemon/source/smaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/source/kernel_file.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"

#define MAPPINGS_MAX    4096u /* beyond: smaps_rollup */
#define MEGABLOCK_BYTES (UINT64_C(1) << 20)
#define RESERVED_MIN    (UINT64_C(1) << 30)
#define LINE_MAX_BYTES  512 /* of a longer line (a path) the rest is skipped */

enum mapping_kind { MAPPING_OTHER, MAPPING_ANONYMOUS, MAPPING_SHARED };

/* Bytes of one mapping, or of all. */
struct amounts {
        uint64_t rss, pss, anonymous, lazy_free, pss_shared;
};

/* Neighbouring anonymous mappings. */
struct stretch {
        uint64_t start, end, reserved, resident;
};

struct reader {
        unsigned mappings;
        enum mapping_kind kind;
        struct amounts now, sum;
        uint64_t shared;      /* resident pages of shared memory without a file */
        struct stretch run;   /* up to the mapping before */
        struct stretch heap;  /* the largest reservation so far; reserved == 0: none */
        uint64_t start, end;  /* of the mapping now read */
        bool is_inaccessible; /* the same */
};

static void close_run(struct reader *r)
{
        const bool is_heap = r->run.reserved >= RESERVED_MIN && r->run.start % MEGABLOCK_BYTES == 0;

        if (is_heap && r->run.reserved > r->heap.reserved)
                r->heap = r->run;
        r->run = (struct stretch){ 0 };
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
        if (r->kind == MAPPING_SHARED)
                r->shared += sub_sat(a->rss, a->anonymous);
        r->sum.rss += a->rss;
        r->sum.pss += a->pss;
        r->sum.anonymous += a->anonymous;
        r->sum.lazy_free += a->lazy_free;
        r->sum.pss_shared += a->pss_shared;
}

/* By the path, which is empty for anonymous memory; `private` as in "rw-p". */
static enum mapping_kind kind_of(const char *path, bool private)
{
        static const char *const shared[] = { "/memfd:", "/dev/shm/", "/dev/zero", "/SYSV" };

        if (!*path || !strncmp(path, "[anon:", 6))
                return private ? MAPPING_ANONYMOUS : MAPPING_SHARED;
        for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
                if (!strncmp(path, shared[i], strlen(shared[i])))
                        return MAPPING_SHARED;
        return MAPPING_OTHER;
}

/* False when the line is no header. */
static bool read_header(struct reader *r, const char *line)
{
        char permissions[5];
        uint64_t start, end;
        int path = 0;

        int n = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &start, &end, permissions, &path);

        if (n != 3 || !path || end < start)
                return false;
        if (r->mappings++ && start >= r->end)
                close_mapping(r);
        r->now = (struct amounts){ 0 }; /* else it grew while it was read, and is listed again */
        r->start = start;
        r->end = end;
        r->kind = kind_of(line + path, permissions[3] == 'p');
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
        };
        uint64_t kb;

        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
                if (kernel_field(line, amounts[i].key, &kb) && kb < UINT64_MAX / 1024 / MAPPINGS_MAX)
                        *amounts[i].bytes = kb * 1024;
}

/* False when it cannot be read to its end, or has more than MAPPINGS_MAX mappings. */
static bool read_file(struct reader *r, const char *root, uint32_t pid, const char *name)
{
        char path[KERNEL_PATH_MAX], line[LINE_MAX_BYTES];
        bool continues = false;

        *r = (struct reader){ 0 };
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
        *ret_pages = (struct resident_pages){
                .rss_bytes = r.sum.rss,
                .files_bytes = sub_sat(sub_sat(r.sum.rss, r.sum.anonymous), by_mapping ? r.shared : r.sum.pss_shared),
                .lazy_free_bytes = lazy_free,
                .heap_bytes = by_mapping && r.heap.reserved ? r.heap.resident : UNKNOWN_U64,
                .wall_ns = UNKNOWN_U64,
        };
        *ret_pss_bytes = r.sum.pss;
        return true;
}
