/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pages of a process were touched: of this one; and a process of very many threads, which is stopped. */
#include <pthread.h>

#include "tests/unit/test.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/process/live.h"
#include "inspect/process/stop.h"
#include "proto/base/process_stat.h"

#define PAGES 2000u

#define THREADS      8000
#define STACK_BYTES  16384
#define STOP_NS      UINT64_C(1000000000)
#define STOP_MOST_MS 30000 /* until a stop of STOP_NS must be over, on a busy machine */

TEST(test_touched_pages)
{
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *bytes = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const uint64_t at = (uint64_t)(uintptr_t)bytes;

        assert_ptr_not_equal(bytes, MAP_FAILED);
        (void)madvise(bytes, PAGES * page, MADV_NOHUGEPAGE);
        uint64_t start = at, end = at + PAGES * page;
        assert_false(live_find_touched(getpid(), &start, &end));

        bytes[700 * page] = bytes[703 * page] = bytes[1900 * page] = 1;
        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at + 700 * page);
        assert_int_equal(end, at + 704 * page);
        start = end;
        end = at + PAGES * page;
        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at + 1900 * page);
        assert_int_equal(end, at + 1901 * page);
        start = end;
        end = at + PAGES * page;
        assert_false(live_find_touched(getpid(), &start, &end));
        (void)munmap(bytes, PAGES * page);
}

/* A range may begin and end within a page. */
TEST(test_part_of_a_page)
{
        uint64_t here[4] = { 1 }, start = (uint64_t)(uintptr_t)here, end = start + 8;
        const uint64_t at = start;

        assert_true(live_find_touched(getpid(), &start, &end));
        assert_int_equal(start, at);
        assert_int_equal(end, at + 8);
}

/* ------------------------------------------------------------------ thousands of threads */

static void *rest(void *unused)
{
        for (;;)
                (void)pause();
        return NULL;
}

/* Ends with this process. Writes a byte once its threads are there: 1, or 0 if there may not be so many. */
static void run_threads(int ready)
{
        pthread_attr_t small;
        pthread_t unused;
        uint8_t all = 1;

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)pthread_attr_init(&small);
        (void)pthread_attr_setstacksize(&small, STACK_BYTES);
        for (int i = 0; i < THREADS && all; i++)
                all = pthread_create(&unused, &small, rest, NULL) == 0;
        if (write(ready, &all, 1) == 1)
                (void)rest(NULL);
        _exit(1);
}

static pid_t start_threads(bool *ret_all)
{
        int ends[2];
        uint8_t all = 0;

        assert_int_equal(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0)
                run_threads(ends[1]);
        assert_true(pid > 0);
        assert_int_equal(read(ends[0], &all, 1), 1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        *ret_all = all;
        return pid;
}

/* How many of its threads a tracer keeps. */
static unsigned count_stopped(pid_t pid)
{
        char path[300], text[512];
        unsigned n = 0;
        const struct dirent *e;

        (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
        DIR *d = opendir(path);
        assert_non_null(d);
        while ((e = readdir(d))) {
                (void)snprintf(path, sizeof(path), "/proc/%ld/task/%s/stat", (long)pid, e->d_name);
                FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
                if (!f)
                        continue;
                const char *state = fgets(text, sizeof(text), f) ? process_stat_find(text, STAT_STATE) : NULL;
                n += state && *state == 't';
                (void)fclose(f);
        }
        (void)closedir(d);
        return n;
}

/* The time runs out. In a process of its own: until the stop has ended, nothing but SIGKILL ends it. */
static void stop_and_count(pid_t pid, int ended)
{
        struct program program = { .n_files = 0 };
        struct error error;

        if (stop_begin(pid, STOP_NS, &program, &error) == STOPPED) {
                while (!stop_is_over())
                        (void)poll(NULL, 0, 1);
                (void)stop_end();
        }
        const unsigned stopped = count_stopped(pid); /* while this tracer is still there */
        _exit(write(ended, &stopped, sizeof(stopped)) == sizeof(stopped) ? 0 : 1);
}

TEST(test_stop_of_thousands_of_threads_ends)
{
        int ends[2];
        unsigned stopped = THREADS;
        bool all;
        const pid_t pid = start_threads(&all);

        if (!all) {
                (void)kill(pid, SIGKILL);
                (void)waitpid(pid, NULL, 0);
                skip();
        }
        assert_int_equal(pipe(ends), 0);
        const pid_t tracer = fork();
        if (tracer == 0)
                stop_and_count(pid, ends[1]);
        struct pollfd end = { ends[0], POLLIN, 0 };
        const int ready = poll(&end, 1, STOP_MOST_MS);
        if (ready > 0)
                assert_int_equal(read(ends[0], &stopped, sizeof(stopped)), sizeof(stopped));
        (void)kill(tracer, SIGKILL);
        (void)kill(pid, SIGKILL);
        (void)waitpid(tracer, NULL, 0);
        (void)waitpid(pid, NULL, 0);
        (void)close(ends[0]);
        (void)close(ends[1]);
        assert_int_equal(ready, 1);
        assert_int_equal(stopped, 0);
}
