/* SPDX-License-Identifier: BSD-3-Clause */
/* A daemon's silences over restarts: a child writes the file, a broken one is moved aside, failures are reported. */
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "daemon/watch/alerting/silence_store.h"
#include "proto/base/clock.h"
#include "proto/base/whole_file.h"
#include "proto/base/error.h"

static struct event_base *base;
static struct silence_store *store;
static char directory[64], path[128], broken[160];

static void start(void)
{
        assert_non_null(store = silence_store_new(base, path));
}

static int set_up(void **state)
{
        base = event_base_new();
        (void)snprintf(directory, sizeof(directory), "/tmp/hw-silences-XXXXXX");
        if (!mkdtemp(directory))
                return -1;
        (void)snprintf(path, sizeof(path), "%s/a/b/state.json", directory);
        (void)snprintf(broken, sizeof(broken), "%s.broken", path);
        start();
        return 0;
}

static int tear_down(void **state)
{
        char command[128];

        silence_store_destroy(&store);
        event_base_free(base);
        (void)unlink(path);
        (void)unlink(broken);
        (void)snprintf(command, sizeof(command), "%s/a/b", directory);
        (void)rmdir(command);
        command[strlen(command) - 2] = '\0';
        (void)rmdir(command);
        return rmdir(directory);
}

static void make_silence(const char *rule)
{
        struct silence s = { .target = "*", .why = "because" };
        struct error error;

        (void)snprintf(s.rule, sizeof(s.rule), "%s", rule);
        s.until_wall_ns = clock_wall_ns() + 3600 * UINT64_C(1000000000);
        if (!silence_store_add(store, &s, &error))
                fail_msg("%s", error.text);
}

static void restart(void)
{
        silence_store_destroy(&store);
        start();
}

TEST_WITH(silences_outlive_a_restart, set_up, tear_down)
{
        struct stat st;

        make_silence("leak");
        make_silence("gc_*"); /* while the first write is under way */
        assert_null(silence_store_not_kept(store));
        assert_string_equal(silence_store_find(store, "leak", "api-1")->why, "because");
        restart();
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_int_equal(silence_store_list(store)->n, 2);
        assert_non_null(silence_store_find(store, "gc_pause", "any"));
        assert_int_equal(silence_store_remove(store, 0, "gc_*", "*"), 1);
        restart();
        assert_int_equal(silence_store_list(store)->n, 1);
}

TEST_WITH(a_broken_file_is_set_aside, set_up, tear_down)
{
        static const char text[] = "{\"version\": 1, \"silences\": [{\"id\": ";
        char *kept;
        size_t size;

        make_silence("leak");
        silence_store_destroy(&store);
        assert_int_equal(whole_file_write(path, text, strlen(text)), 0);
        start();
        assert_int_equal(silence_store_list(store)->n, 0);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(whole_file_read(broken, 1000, &kept, &size), 0);
        assert_string_equal(kept, text);
        free(kept);
        make_silence("leak"); /* continues as if nothing had happened */
        restart();
        assert_int_equal(silence_store_list(store)->n, 1);

        silence_store_destroy(&store);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/etc/passwd", path), 0); /* a trap: neither read nor written through */
        start();
        assert_int_equal(silence_store_list(store)->n, 0);
        assert_int_equal(access(path, F_OK), -1);
}

TEST_WITH(what_cannot_be_kept_is_said, set_up, tear_down)
{
        char file[128];
        struct timeval step = { .tv_usec = 20000 };

        silence_store_destroy(&store);
        (void)snprintf(file, sizeof(file), "%s/a", directory);
        int fd = open(file, O_CREAT | O_WRONLY, 0600); /* a file where a directory should be */
        assert_true(fd >= 0);
        close(fd);
        start();
        make_silence("leak");
        for (uint64_t end = clock_mono_ns() + 120000000000u; !silence_store_not_kept(store);) {
                assert_true(clock_mono_ns() < end);
                event_base_loopexit(base, &step);
                event_base_loop(base, EVLOOP_ONCE);
        }
        assert_non_null(strstr(silence_store_not_kept(store), "Not a directory"));
        assert_int_equal(silence_store_list(store)->n, 1);
        unlink(file);
}
