/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/source/harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/source/process_watch.h"
#include "daemon/source/procfs.h"
#include "tests/unit/test.h"

/* Writes a file of the synthetic tree, with its directories. */
static void tree(const char *path, const char *text)
{
        char whole[512];

        snprintf(whole, sizeof(whole), "%s/%s", dir, path);
        for (char *p = whole + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
                *p = '/';
        }
        put(whole, O_TRUNC, text);
}

static void process(const char *stat_text)
{
        tree("proc/stat", "cpu  1 2 3\nintr 1 2 3\nctxt 9\nbtime 1000000\nprocesses 5\n");
        tree("proc/42/stat", stat_text);
        tree("proc/42/status",
             "Name:\tx\nVmRSS:\t    2048 kB\nRssFile:\t  300 kB\n"
             "VmSwap:\t       4 kB\nThreads:\t7\n");
}

#define STAT(state) "42 (a) b (c)) " state " 1 1 1 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 7 0 12345 999 512 0\n"

#define ZOMBIE        "42 (x) Z 1 1 1 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 1 0 12345 0 0 0\n"
#define STAT_OF_STACK "42 (x) S 1 1 1 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 7 0 12345 999 512 0 1 1 %s 0\n"

TEST_WITH(identity, set_up, tear_down)
{
        uint64_t start = (1000000ull + 123) * 1000000000u + 450000000u; /* 12345 ticks of 10 ms after the boot */

        assert_int_equal(sysconf(_SC_CLK_TCK), 100);
        process(STAT("S"));
        assert_true(procfs_is_process(dir, 42, start));
        assert_true(procfs_is_process(dir, 42, start + 10000000000u));
        assert_true(procfs_is_process(dir, 42, start - 10000000000u));
        assert_false(procfs_is_process(dir, 42, start + 10000000001u));
        assert_false(procfs_is_process(dir, 42, start - 10000000001u));
        assert_false(procfs_is_process(dir, 43, start));
        assert_false(procfs_is_process(dir, 42, UINT64_MAX));
        tree("proc/42/stat", "42 (x) S 1 1");
        assert_false(procfs_is_process(dir, 42, start));
        tree("proc/42/stat", "");
        assert_false(procfs_is_process(dir, 42, start));
}

TEST_WITH(whose_number_it_is, set_up, tear_down)
{
        struct process_identity id;

        assert_int_equal(procfs_identity(dir, 42, &id), -ESRCH);
        process(STAT("S"));
        tree("proc/42/cmdline", "/bin/api");
        assert_int_equal(procfs_identity(dir, 42, &id), 0);
        assert_int_equal(id.pid, 42);
        assert_int_equal(id.parent_pid, 1);
        assert_int_equal(id.start_ticks, 12345);
        assert_true(id.start_wall_ns == (1000000ull + 123) * 1000000000u + 450000000u);
        assert_string_equal(id.program, "a) b (c)");
        assert_int_equal(id.arguments_size, 8);
        assert_memory_equal(id.arguments, "/bin/api", 8);
        process(ZOMBIE);
        assert_int_equal(procfs_identity(dir, 42, &id), -ESRCH);
        tree("proc/42/stat", "42 (kworker) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0 0\n");
        assert_int_equal(procfs_identity(dir, 42, &id), -ENOTSUP);
        tree("proc/42/stat", "42 (x) S 1 1");
        assert_int_equal(procfs_identity(dir, 42, &id), -ESRCH);
}

TEST_WITH(one_sample, set_up, tear_down)
{
        struct process_sample s = { .rss_bytes = 5 };

        process(STAT("S"));
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_int_equal(s.rss_bytes, 2048 * 1024);
        assert_int_equal(s.swap_bytes, 4096);
        assert_int_equal(s.threads, 7);
        assert_int_equal(s.cpu_ns, 2000000000u);
        assert_int_equal(s.minor_faults, 1);
        assert_int_equal(s.major_faults, 3);
        assert_true(s.address_space_bytes == UNKNOWN_U64 && s.address_space_limit_bytes == UNKNOWN_U64);
        assert_true(s.pss_bytes == UNKNOWN_U64);
        assert_true(s.cgroup_current_bytes == UNKNOWN_U64 && s.cgroup_max_bytes == UNKNOWN_U64);
        assert_int_equal(s.pages.rss_bytes, 2048 * 1024);
        assert_int_equal(s.pages.files_bytes, 300 * 1024);
        assert_true(s.pages.lazy_free_bytes == UNKNOWN_U64 && s.pages.heap_bytes == UNKNOWN_U64);
        tree("proc/42/limits", "Limit   Soft Limit   Hard Limit\nMax address space   unlimited   unlimited   bytes\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_true(s.address_space_limit_bytes == UNKNOWN_U64);
        tree("proc/42/limits", "Max processes  7 8 processes\nMax address space   1048576   unlimited   bytes\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_int_equal(s.address_space_limit_bytes, 1048576);
        assert_true(s.data_bytes == UNKNOWN_U64 && s.data_limit_bytes == UNKNOWN_U64);
        tree("proc/42/limits", "Max data size 2097152 unlimited bytes\nMax address space unlimited\n");
        tree("proc/42/status", "VmRSS:\t1024 kB\nVmData:\t7 kB\nHugetlbPages:\t  4096 kB\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_int_equal(s.rss_bytes, 5120 * 1024);
        assert_int_equal(s.data_bytes, 7 * 1024);
        assert_int_equal(s.data_limit_bytes, 2097152);
        assert_true(s.address_space_limit_bytes == UNKNOWN_U64);
        tree("proc/42/status", "Name:\tVmRSS: 7 kB\nVmRSS:\t99999999999999999999 kB\nVmSwap:\tx kB\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_true(s.rss_bytes == UNKNOWN_U64 && s.swap_bytes == UNKNOWN_U64 && s.threads == UNKNOWN_U64);
}

#define MAPPING(header, rss, anonymous, lazy_free)                                                                     \
        header "\nSize: 9999 kB\nRss: " rss " kB\nPss: " rss " kB\nPss_Shmem: 0 kB\nAnonymous: " anonymous             \
               " kB\nLazyFree: " lazy_free " kB\nVmFlags: rd wr\n"

/* As GHC 9.0.2 lays its process out, and a shared memory, and an arena of malloc with what it reserves. */
static const char mappings[] = MAPPING("00400000-00c00000 r-xp 00000000 fe:00 77                         /usr/bin/a b",
                                       "900", "0", "0")
        MAPPING("00c00000-00d00000 rw-p 00800000 fe:00 77                         /usr/bin/a b", "50", "40",
                "0") MAPPING("01000000-01100000 rw-p 00000000 00:00 0                          [heap]", "60", "60",
                             "0") MAPPING("4200000000-4200100000 rw-p 00000000 00:00 0 ", "1000", "1000", "100")
                MAPPING("4200100000-4200200000 rw-p 00000000 00:00 0 ", "500", "500",
                        "500") MAPPING("4200200000-14200100000 ---p 00000000 00:00 0 ", "0", "0",
                                       "0") MAPPING("7f0000000000-7f0000100000 rw-p 00000000 00:00 0 ", "70", "70", "0")
                        MAPPING("7f0000100000-7f0004000000 ---p 00000000 00:00 0 ", "0", "0", "0") MAPPING(
                                "7f1000000000-7f1000100000 rw-s 00000000 00:01 5                   /dev/zero (deleted)",
                                "30", "0", "0")
                                MAPPING("7ffd1f1c0000-7ffd1f1e1000 rw-p 00000000 00:00 0                  [stack]",
                                        "20", "20", "0");

static const char rollup[] =
        MAPPING("00400000-7ffd1f1e1000 ---p 00000000 00:00 0 [rollup]", "2630", "1690", "600") "Pss_Shmem: 30 kB\n";

static void pages_of(uint64_t rss, uint64_t files, uint64_t lazy_free, uint64_t heap)
{
        struct resident_pages p;
        uint64_t pss;

        assert_true(smaps_read(dir, 42, &p, &pss));
        assert_int_equal(p.rss_bytes, rss * 1024);
        assert_int_equal(pss, rss * 1024);
        assert_int_equal(p.files_bytes, files * 1024);
        assert_int_equal(p.lazy_free_bytes, lazy_free * 1024);
        assert_int_equal(p.heap_bytes, heap == UNKNOWN_U64 ? heap : heap * 1024);
}

TEST_WITH(pages_by_kind, set_up, tear_down)
{
        struct resident_pages p = { .rss_bytes = 5 };
        uint64_t pss = 6;
        char *many = calloc(5000, 128);

        process(STAT("S"));
        assert_false(smaps_read(dir, 42, &p, &pss));
        assert_true(p.rss_bytes == 5 && pss == 6); /* untouched */
        tree("proc/42/smaps_rollup", rollup);
        pages_of(2630, 910, 600, UNKNOWN_U64); /* the sums know of no heap */
        tree("proc/42/smaps", mappings);
        pages_of(2630, 910, 600, 900);
        tree("proc/42/smaps", ""); /* of a process that has just ended */
        pages_of(2630, 910, 600, UNKNOWN_U64);
        tree("proc/42/smaps_rollup", "Rss: 7 kB\nno header\n\nffff-0 rw-p 0 0 0\n4200000000-\n");
        assert_false(smaps_read(dir, 42, &p, &pss));
        /* Too many mappings are read as a sum. */
        assert_non_null(many);
        for (size_t i = 0, n = 0; i < 5000; i++)
                n += (size_t)snprintf(many + n, 128, "%zx-%zx rw-p 00000000 00:00 0 \nRss: 4 kB\nPss: 4 kB\n", i << 12,
                                      (i + 1) << 12);
        tree("proc/42/smaps", many);
        assert_false(smaps_read(dir, 42, &p, &pss));
        tree("proc/42/smaps_rollup", rollup);
        pages_of(2630, 910, 600, UNKNOWN_U64);
        free(many);
}

#define FILE_MAPPING(header, rss, dirty, more)                                                                         \
        header "\nRss: " rss " kB\nPss: " rss " kB\nShared_Dirty: " dirty                                              \
               " kB\nPrivate_Dirty: 0 kB\nAnonymous: 0 kB\n" more

/* Pages of files are counted by file, dirty ones apart. Files in memory, and locked ones, are memory that stays. */
TEST_WITH(mapped_files, set_up, tear_down)
{
        static const char text[] = FILE_MAPPING("7f0000000000-7f0001000000 rw-s 00000000 fe:00 9 /srv/a b.db", "700",
                                                "30", "")
                FILE_MAPPING("7f0001000000-7f0002000000 rw-s 00100000 fe:00 8 /srv/b.db", "650", "0", "") FILE_MAPPING(
                        "7f0002000000-7f0003000000 rw-s 01000000 fe:00 9 /srv/a b.db", "100", "10",
                        "") FILE_MAPPING("7f0003000000-7f0004000000 rw-s 00000000 00:21 9 /run/cache (deleted)", "400",
                                         "400",
                                         "") FILE_MAPPING("7f0004000000-7f0005000000 rw-s 00000000 fe:00 7 /srv/keys",
                                                          "50", "0", "Locked: 50 kB\n")
                        FILE_MAPPING("7f0005000000-7f0006000000 r--p 00000000 00:22 9 /overlay/x", "20", "0", "")
                                FILE_MAPPING("7f0006000000-7f0007000000 r--p 00000000 fe:00 6 /lib/libc.so", "10", "0",
                                             "");
        struct resident_pages p;
        uint64_t pss;

        process(STAT("S"));
        tree("proc/42/smaps", text);
        tree("proc/42/mountinfo",
             "22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 0:34 / /overlay rw - overlay o rw\n"
             "31 22 0:33 / /run rw,nosuid shared:5 - tmpfs tmpfs rw\n");
        assert_true(smaps_read(dir, 42, &p, &pss));
        assert_int_equal(p.rss_bytes, 1930 * 1024);
        assert_int_equal(p.files_bytes, 1480 * 1024);
        assert_int_equal(p.dirty_bytes, 40 * 1024);
        assert_string_equal(p.files[0].path, "/srv/a b.db");
        assert_int_equal(p.files[0].resident_bytes, 800 * 1024);
        assert_int_equal(p.files[0].dirty_bytes, 40 * 1024);
        assert_string_equal(p.files[1].path, "/srv/b.db");
        assert_int_equal(p.files[0].held_bytes + p.files[1].held_bytes, 0);
        assert_int_equal(p.shared_bytes, 450 * 1024);
        assert_string_equal(p.files[2].path, "/run/cache (deleted)");
        assert_true(p.files[2].held_bytes == 400 * 1024 && p.files[2].resident_bytes == 400 * 1024 &&
                    !p.files[2].dirty_bytes);
}

#define HUGE_MAPPING(header, shared, private)                                                                          \
        header "\nRss: 0 kB\nPss: 0 kB\nAnonymous: 0 kB\nShared_Hugetlb: " shared                                      \
               " kB\nPrivate_Hugetlb: " private " kB\n"

/* Huge pages are resident though Rss leaves them out: of the heap (--hugepages), of C, of a file in hugetlbfs. */
TEST_WITH(huge_pages, set_up, tear_down)
{
        struct resident_pages p;
        uint64_t pss;

        process(STAT("S"));
        tree("proc/42/mountinfo", "31 22 0:33 / /dev/hugepages rw - hugetlbfs hugetlbfs rw\n");
        tree("proc/42/smaps",
             HUGE_MAPPING("4200000000-4200400000 rw-p 00000000 00:11 5 /anon_hugepage (deleted)", "0",
                          "4096") MAPPING("4200400000-14200000000 ---p 00000000 00:00 0 ", "0", "0", "0")
                     HUGE_MAPPING("7f0000000000-7f0000200000 rw-p 0 00:11 6 /anon_hugepage (deleted)", "0", "2048")
                             HUGE_MAPPING("7f0000200000-7f0000a00000 rw-s 0 00:21 7 /dev/hugepages/pool", "8192", "0"));
        assert_true(smaps_read(dir, 42, &p, &pss));
        assert_int_equal(p.rss_bytes, 14336 * 1024);
        assert_int_equal(pss, 6144 * 1024);
        assert_int_equal(p.heap_bytes, 4096 * 1024);
        assert_int_equal(p.shared_bytes, 8192 * 1024);
        assert_int_equal(p.files_bytes, 0);
        assert_string_equal(p.files[0].path, "/dev/hugepages/pool");
        assert_int_equal(p.files[0].held_bytes, 8192 * 1024);
}

/* Only the largest of very many files are known, whatever their order. */
TEST_WITH(the_largest_of_many_files, set_up, tear_down)
{
        struct resident_pages p;
        uint64_t pss;
        char *text = calloc(3000, 128);

        assert_non_null(text);
        process(STAT("S"));
        for (size_t i = 0, n = 0; i < 3000; i++)
                n += (size_t)snprintf(text + n, 128, "%zx-%zx r--s 0 fe:00 %zu /srv/%zu.sst\nRss: %zu kB\n", i << 12,
                                      (i + 1) << 12, i + 1, i, 4 + i * 7919 % 3000);
        tree("proc/42/smaps", text);
        assert_true(smaps_read(dir, 42, &p, &pss));
        for (size_t i = 0; i < MAPPED_FILES; i++)
                assert_int_equal(p.files[i].resident_bytes, (3003 - i) * 1024);
        free(text);
}

/* The kernel lists a mapping again that grew between two reads: it is counted once, as it was last. */
TEST_WITH(what_grows_while_it_is_read_counts_once, set_up, tear_down)
{
        static const char text[] =
                "01000000-01100000 rw-p 00000000 00:00 0 [heap]\nRss: 900 kB\nAnonymous: 900 kB\n"
                "01000000-01200000 rw-p 00000000 00:00 0 [heap]\nRss: 1000 kB\nAnonymous: 1000 kB\n"
                "7ffd1f1c0000-7ffd1f1e1000 rw-p 00000000 00:00 0 [stack]\nRss: 20 kB\nAnonymous: 20 kB\n";
        struct resident_pages p;
        uint64_t pss;

        process(STAT("S"));
        tree("proc/42/smaps", text);
        assert_true(smaps_read(dir, 42, &p, &pss));
        assert_int_equal(p.rss_bytes, 1020 * 1024);
        assert_int_equal(p.files_bytes, 0);
}

/*
 * A heap that was reserved under `ulimit -v` is smaller, and may be full. Elsewhere what is not aligned, or reserves
 * little, is none.
 */
TEST_WITH(the_heap_is_recognised, set_up, tear_down)
{
        static const struct {
                const char *start, *committed_end, *reserved_end;
                bool is_heap;
                uint64_t reserved_mib;
        } cases[] = {
                { "4200000000", "4200100000", "14200000000", true, UNKNOWN_U64 }, /* 1 TiB: nobody limited it */
                { "4200000000", "4200100000", "4240100000", true, 1025 },
                { "4200000000", "4203fff000", "4203fff000", true, 63 },
                { "7c0000000000", "7c0000100000", "7c0040100000", true, 1025 },
                { "7c0000000000", "7c0000100000", "7c0004000000", false, UNKNOWN_U64 },
                { "4200001000", "4200100000", "14200100000", false, UNKNOWN_U64 },
        };
        char text[1024];
        struct resident_pages p;
        uint64_t pss;

        process(STAT("S"));
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                snprintf(text, sizeof(text),
                         "%s-%s rw-p 00000000 00:00 0 \nRss: 8 kB\nAnonymous: 8 kB\n"
                         "%s-%s ---p 00000000 00:00 0 \nRss: 0 kB\n",
                         cases[i].start, cases[i].committed_end, cases[i].committed_end, cases[i].reserved_end);
                tree("proc/42/smaps", text);
                assert_true(smaps_read(dir, 42, &p, &pss));
                assert_int_equal(p.heap_bytes, cases[i].is_heap ? 8192 : UNKNOWN_U64);
                assert_int_equal(p.reserved_bytes,
                                 cases[i].reserved_mib == UNKNOWN_U64 ? UNKNOWN_U64 : cases[i].reserved_mib << 20);
        }
        /* The program reserves more, with more in it. */
        tree("proc/42/smaps",
             "4200000000-4200100000 rw-p 00000000 00:00 0 \nRss: 8 kB\nAnonymous: 8 kB\n"
             "4200100000-14200000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
             "7c0000000000-7c0000100000 rw-p 00000000 00:00 0 \nRss: 900 kB\nAnonymous: 900 kB\n"
             "7c0000100000-7e0000000000 ---p 00000000 00:00 0 \nRss: 0 kB\n");
        assert_true(smaps_read(dir, 42, &p, &pss));
        assert_int_equal(p.heap_bytes, 8192);
}

/* RSS is that of the reading of its parts, so that they add up. */
TEST_WITH(a_look_reads_pages, set_up, tear_down)
{
        uint64_t start = (1000000ull + 123) * 1000000000u, now = start + 5000000000u;
        struct process_watch w = { .root = dir };
        struct process_sample s;

        process(STAT("S"));
        process_watch_begin(&w, 0, 0);
        assert_int_equal(process_watch_poll(&w, 42, start, now, &s), PROCESS_ALIVE);
        assert_int_equal(s.pages.files_bytes, 300 * 1024);
        assert_true(s.pages.wall_ns == now && s.pages.lazy_free_bytes == UNKNOWN_U64 && s.pss_bytes == UNKNOWN_U64);
        tree("proc/42/smaps", mappings);
        assert_int_equal(process_watch_poll(&w, 42, start, now + 400000000000u, &s), PROCESS_ALIVE);
        assert_int_equal(s.rss_bytes, 2630 * 1024);
        assert_int_equal(s.pages.lazy_free_bytes, 600 * 1024);
        assert_true(s.pages.wall_ns == now + 400000000000u);
        w.pages_due_ns = now + 500000000000u; /* as after a reading that took long */
        assert_int_equal(process_watch_poll(&w, 42, start, now + 401000000000u, &s), PROCESS_ALIVE);
        assert_int_equal(s.rss_bytes, 2048 * 1024);
        assert_int_equal(s.pages.rss_bytes, 2630 * 1024);
        assert_true(s.pages.wall_ns == now + 400000000000u && s.wall_ns == now + 401000000000u);
}

/* A clock that is set moves the Unix time of the boot: whose process it is was found out before. */
TEST_WITH(a_clock_that_is_set, set_up, tear_down)
{
        const uint64_t start = (1000000ull + 123) * 1000000000u;
        struct process_watch w = { .root = dir };
        struct process_sample s;

        process(STAT("S"));
        process_watch_begin(&w, 0, 0);
        assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_ALIVE);
        tree("proc/stat", "btime 5000000\n");
        assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_ALIVE);
        assert_true(process_watch_alive(&w, 42, start));
        tree("proc/42/stat", "42 (x) S 1 1 1 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 7 0 12346 999 512 0\n");
        assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_GONE); /* another one, a tick later */
}

/* Another program in the same process has its stack elsewhere; of one that may not be read no place is known. */
TEST_WITH(another_program_in_its_place, set_up, tear_down)
{
        static const struct {
                uint32_t served_by;
                uint64_t served;
                const char *before, *now;
                bool executed;
        } cases[] = { { 0, 0, "140723000000", "140723000000", false },
                      { 0, 0, "140723000000", "140722000000", true },
                      { 0, 0, "140723000000", "0", false },
                      { 0, 0, "0", "140722000000", false },
                      { 42, 140721000000, "140722000000", "140722000000", true },
                      { 41, 140721000000, "140722000000", "140722000000", false } }; /* by a relay */
        const uint64_t start = (1000000ull + 123) * 1000000000u;
        struct process_sample s;
        char text[160];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct process_watch w = { .root = dir };

                process_watch_begin(&w, cases[i].served_by, cases[i].served);
                assert_false(process_watch_executed(&w)); /* not seen yet */
                (void)snprintf(text, sizeof(text), STAT_OF_STACK, cases[i].before);
                process(text);
                assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_ALIVE);
                (void)snprintf(text, sizeof(text), STAT_OF_STACK, cases[i].now);
                tree("proc/42/stat", text);
                assert_int_equal(process_watch_executed(&w), cases[i].executed);
        }
}

TEST_WITH(gone, set_up, tear_down)
{
        struct process_sample s = { .rss_bytes = 5 };

        assert_int_equal(procfs_sample(dir, 42, &s), -ESRCH);
        process(ZOMBIE);
        assert_int_equal(procfs_sample(dir, 42, &s), -ESRCH);
        assert_int_equal(s.rss_bytes, 5); /* untouched */
}

static void limits(uint64_t current, uint64_t max)
{
        struct process_sample s;

        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        if (s.cgroup_current_bytes != current || s.cgroup_max_bytes != max)
                fail_msg("current %llu, max %llu", (unsigned long long)s.cgroup_current_bytes,
                         (unsigned long long)s.cgroup_max_bytes);
}

TEST_WITH(cgroup_second_generation, set_up, tear_down)
{
        process(STAT("S"));
        tree("proc/42/cgroup", "0::/a/b/c\n");
        limits(UNKNOWN_U64, UNKNOWN_U64); /* no such groups here */
        tree("sys/fs/cgroup/a/b/c/memory.current", "100\n");
        tree("sys/fs/cgroup/a/b/c/memory.max", "max\n");
        tree("sys/fs/cgroup/a/b/memory.current", "200\n");
        tree("sys/fs/cgroup/a/b/memory.max", "max\n");
        limits(100, UNKNOWN_U64);
        tree("sys/fs/cgroup/a/memory.current", "300\n");
        tree("sys/fs/cgroup/a/memory.max", "1000\n");
        limits(300, 1000); /* usage and limit of the group that binds */
        tree("sys/fs/cgroup/a/b/memory.max", "5000\n");
        limits(300, 1000);
        tree("sys/fs/cgroup/a/b/c/memory.max", "0\n");
        limits(100, 0);
}

/* The cache of files is taken back before a limit is met. */
TEST_WITH(what_a_cgroup_holds, set_up, tear_down)
{
        struct process_sample s;

        process(STAT("S"));
        tree("proc/42/cgroup", "0::/held\n");
        tree("sys/fs/cgroup/held/memory.current", "1000\n");
        tree("sys/fs/cgroup/held/memory.max", "2000\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_true(s.cgroup_held_bytes == UNKNOWN_U64);
        tree("sys/fs/cgroup/held/memory.stat",
             "anon 100\nfile 850\ninactive_anon 90\nactive_anon 10\n"
             "inactive_file 600\nactive_file 200\nslab_reclaimable 50\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_int_equal(s.cgroup_held_bytes, 150);
        assert_int_equal(s.cgroup_current_bytes, 1000);
        tree("proc/42/cgroup", "4:memory:/held\n");
        tree("sys/fs/cgroup/memory/held/memory.usage_in_bytes", "1000\n");
        tree("sys/fs/cgroup/memory/held/memory.limit_in_bytes", "3000\n");
        tree("sys/fs/cgroup/memory/held/memory.stat",
             "cache 1\ninactive_file 1\nactive_file 2\n"
             "total_inactive_file 300\ntotal_active_file 5000\n");
        assert_int_equal(procfs_sample(dir, 42, &s), 0);
        assert_int_equal(s.cgroup_held_bytes, 0);
        assert_int_equal(s.cgroup_max_bytes, 3000);
}

/* Whether its group is its own, and which one that is. */
TEST_WITH(cgroup_company_is_seen, set_up, tear_down)
{
        char group[8];
        uint64_t shared;

        process(STAT("S"));
        tree("proc/42/cgroup", "0::/user.slice/d\n");
        cgroup_company(dir, 42, group, sizeof(group), &shared);
        assert_string_equal(group, "slice/d"); /* its end */
        assert_true(shared == UNKNOWN_U64);
        tree("sys/fs/cgroup/user.slice/d/cgroup.procs", "42\n");
        cgroup_company(dir, 42, group, sizeof(group), &shared);
        assert_int_equal(shared, 0);
        tree("sys/fs/cgroup/user.slice/d/cgroup.procs", "42\n43\n");
        cgroup_company(dir, 42, group, sizeof(group), &shared);
        assert_int_equal(shared, 1);
}

TEST_WITH(cgroup_in_a_container, set_up, tear_down)
{
        process(STAT("S"));
        tree("proc/42/cgroup", "0::/\n");
        limits(UNKNOWN_U64, UNKNOWN_U64);
        tree("sys/fs/cgroup/memory.current", "77\n");
        tree("sys/fs/cgroup/memory.max", "max\n");
        limits(UNKNOWN_U64, UNKNOWN_U64); /* may be the whole machine */
        tree("sys/fs/cgroup/memory.max", "4096\n");
        limits(77, 4096);
        tree("proc/42/cgroup", "0::/../../other\n");
        limits(UNKNOWN_U64, UNKNOWN_U64);
}

/* Both generations count kills in a line "oom_kill N"; only those since the process was first seen are of its run. */
TEST_WITH(killed_for_want_of_memory, set_up, tear_down)
{
        static const char *const files[][2] = {
                { "0::/a/b\n", "sys/fs/cgroup/a/b/memory.events" },
                { "4:memory:/a/b\n", "sys/fs/cgroup/memory/a/b/memory.oom_control" },
        };
        uint64_t start = (1000000ull + 123) * 1000000000u;
        struct process_sample s;

        for (size_t i = 0; i < 2; i++) {
                struct process_watch w = { .root = dir };
                process(STAT("S"));
                tree("proc/42/cgroup", files[i][0]);
                tree(files[i][1], "low 0\noom 2\noom_kill 1\n");
                process_watch_begin(&w, 0, 0);
                assert_false(process_watch_oom_killed(&w)); /* not seen yet */
                assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_ALIVE);
                assert_true(process_watch_alive(&w, 42, start));
                assert_false(process_watch_oom_killed(&w));
                tree("proc/42/stat", ZOMBIE);
                tree(files[i][1], "low 0\noom 9\noom_kill 2\noom_group_kill 0\n");
                assert_true(process_watch_oom_killed(&w));
                assert_false(process_watch_alive(&w, 42, start));
                tree(files[i][1], ""); /* its group is removed with its container */
                assert_true(process_watch_oom_killed(&w));

                /* moved into another group, which has killed others before */
                process_watch_begin(&w, 0, 0);
                process(STAT("S"));
                tree("proc/42/cgroup", files[1 - i][0]);
                tree(files[1 - i][1], "low 0\noom 2\noom_kill 5\n");
                assert_int_equal(process_watch_poll(&w, 42, start, start, &s), PROCESS_ALIVE);
                assert_false(process_watch_oom_killed(&w));
                tree(files[1 - i][1], "low 0\noom 2\noom_kill 6\n");
                assert_true(process_watch_oom_killed(&w));

                /* in the root while it ends */
                tree("proc/42/cgroup", i ? "0::/\n" : "4:memory:/\n");
                tree(i ? "sys/fs/cgroup/memory.events" : "sys/fs/cgroup/memory/memory.oom_control", "oom_kill 0\n");
                (void)process_watch_poll(&w, 42, start, start, &s);
                assert_true(process_watch_oom_killed(&w));
        }
}

/* By a signal, by a tracer, or with its control group: in either generation. */
TEST_WITH(stopped_processes, set_up, tear_down)
{
        static const struct {
                const char *stat, *cgroup, *file, *text;
                enum process_stop stop;
        } cases[] = {
                { STAT("S"), "0::/g\n", "sys/fs/cgroup/g/cgroup.events", "populated 1\nfrozen 0\n",
                  PROCESS_NOT_STOPPED },
                { STAT("R"), "0::/g\n", "sys/fs/cgroup/g/cgroup.events", "populated 1\nfrozen 0\n",
                  PROCESS_NOT_STOPPED },
                { STAT("T"), "0::/g\n", "sys/fs/cgroup/g/cgroup.events", "", PROCESS_STOPPED },
                { STAT("t"), "0::/g\n", "sys/fs/cgroup/g/cgroup.events", "", PROCESS_TRACED },
                { STAT("S"), "0::/g\n", "sys/fs/cgroup/g/cgroup.events", "populated 1\nfrozen 1\n", PROCESS_FROZEN },
                { STAT("D"), "6:freezer:/f\n4:memory:/m\n0::/\n", "sys/fs/cgroup/freezer/f/freezer.state", "FROZEN\n",
                  PROCESS_FROZEN },
                { STAT("D"), "6:freezer:/f\n4:memory:/m\n0::/\n", "sys/fs/cgroup/freezer/f/freezer.state", "THAWED\n",
                  PROCESS_NOT_STOPPED },
                { STAT("S"), "4:memory:/m\n", "sys/fs/cgroup/freezer/f/freezer.state", "FROZEN\n",
                  PROCESS_NOT_STOPPED },
        };
        struct process_sample s;

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                process(cases[i].stat);
                tree("proc/42/cgroup", cases[i].cgroup);
                tree(cases[i].file, cases[i].text);
                assert_int_equal(procfs_sample(dir, 42, &s), 0);
                assert_int_equal(s.stop, cases[i].stop);
        }
}

TEST_WITH(cgroup_first_generation, set_up, tear_down)
{
        process(STAT("S"));
        tree("proc/42/cgroup", "0::/ignored\n5:cpu,memory:/d/e\n1:memoryx:/wrong\n");
        tree("sys/fs/cgroup/memory/d/e/memory.usage_in_bytes", "10\n");
        tree("sys/fs/cgroup/memory/d/e/memory.limit_in_bytes", "9223372036854771712\n");
        tree("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
        tree("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        limits(10, UNKNOWN_U64);
        tree("sys/fs/cgroup/memory/d/memory.usage_in_bytes", "20\n");
        tree("sys/fs/cgroup/memory/d/memory.limit_in_bytes", "64\n");
        limits(20, 64);
}

TEST_WITH(hostile_cgroup_files, set_up, tear_down)
{
        static const char *const texts[] = { "",     "\n\n", "0",        "0:", "0::",      "0::\n",
                                             "0:::", ":::/", "0::a/b\n", "::", "0:memory:" };
        char long_text[9000];

        process(STAT("S"));
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
                tree("proc/42/cgroup", texts[i]);
                limits(UNKNOWN_U64, UNKNOWN_U64);
        }
        memset(long_text, '/', sizeof(long_text));
        memcpy(long_text, "0::/", 4);
        long_text[sizeof(long_text) - 1] = '\0';
        tree("proc/42/cgroup", long_text);
        limits(UNKNOWN_U64, UNKNOWN_U64);
}

TEST_WITH(this_very_process, set_up, tear_down)
{
        struct process_sample s;
        struct process_identity id;
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        assert_true(procfs_own_rss() > 100000);
        assert_int_equal(procfs_sample("", (uint32_t)getpid(), &s), 0);
        assert_true(s.rss_bytes != UNKNOWN_U64 && s.rss_bytes > 100000);
        assert_int_equal(s.threads, 1);
        assert_true(s.cpu_ns != UNKNOWN_U64);
        assert_true(s.wall_ns / 1000000000u - (uint64_t)now.tv_sec <= 120);
        assert_int_equal(procfs_identity("", (uint32_t)getpid(), &id), 0);
        assert_true(procfs_is_process("", (uint32_t)getpid(), id.start_wall_ns));
        assert_false(procfs_is_process("", (uint32_t)getpid(), id.start_wall_ns - 3600000000000u));
        pid_t child = fork();
        if (child == 0)
                _exit(0);
        int status;
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(procfs_sample("", (uint32_t)child, &s), -ESRCH); /* a zombie */
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(procfs_sample("", (uint32_t)child, &s), -ESRCH);
}

static void *report_and_wait(void *ctx)
{
        const int *ready = ctx;

        while (write(*ready, "", 1) == 1)
                (void)pause();
        return NULL;
}

TEST_WITH(one_whose_first_thread_has_ended, set_up, tear_down)
{
        struct process_sample s;
        struct process_identity id;
        int ready[2], status;
        char text[512] = "", path[64];

        assert_int_equal(pipe(ready), 0);
        const pid_t child = fork();
        if (child == 0) {
                pthread_t other;
                if (pthread_create(&other, NULL, report_and_wait, &ready[1]) != 0)
                        _exit(1);
                pthread_exit(NULL);
        }
        assert_int_equal(read(ready[0], text, 1), 1);
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
        while (!strstr(text, ") Z ")) {
                FILE *f = fopen(path, "re");
                assert_non_null(f);
                assert_non_null(fgets(text, sizeof(text), f));
                (void)fclose(f);
        }
        assert_int_equal(procfs_sample("", (uint32_t)child, &s), -ENODATA);
        assert_int_equal(procfs_identity("", (uint32_t)child, &id), 0);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        (void)close(ready[0]);
        (void)close(ready[1]);
}
