/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/source/harness.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

static struct heard a;

static int writer(const char *name)
{
        return open(in_dir(name), O_WRONLY | O_NONBLOCK);
}

TEST_WITH(writers_come_and_go, set_up, tear_down)
{
        hear(&a, "fifo:%s/p", dir);
        run_until(a.states);
        assert_int_equal(a.state, SOURCE_WAITING);
        assert_int_equal(mkfifo(in_dir("p"), 0600), 0);
        run_until(a.state == SOURCE_OPEN);
        for (size_t i = 1; i <= 3; i++) {
                int fd = writer("p");
                assert_true(fd >= 0);
                assert_int_equal(write(fd, "abc", 3), 3);
                close(fd);
                run_until(a.cuts == i); /* its end is seen */
                assert_int_equal(source_stats(a.source)->bytes, 3 * i);
        }
        assert_int_equal(source_stats(a.source)->attaches, 1);
        assert_int_equal(a.state, SOURCE_OPEN);
        int fd = writer("p"); /* the read end is still open: no ENXIO */
        assert_true(fd >= 0);
        close(fd);
        source_close(&a.source);
        assert_int_equal(writer("p"), -1);
        assert_int_equal(errno, ENXIO);
}

TEST_WITH(refuses_what_is_no_fifo, set_up, tear_down)
{
        put(in_dir("p"), 0, "text");
        hear(&a, "fifo:%s/p", dir);
        run_until(a.state == SOURCE_FAILED);
        assert_non_null(strstr(a.why, "is not a FIFO"));
        assert_int_equal(a.size, 0);
        assert_int_equal(unlink(in_dir("p")), 0);
        assert_int_equal(mkfifo(in_dir("p"), 0600), 0);
        run_until(a.state == SOURCE_OPEN);
        source_close(&a.source);
}

TEST_WITH(removed_path_keeps_the_stream, set_up, tear_down)
{
        assert_int_equal(mkfifo(in_dir("p"), 0600), 0);
        hear(&a, "fifo:%s/p", dir);
        run_until(a.state == SOURCE_OPEN);
        int fd = writer("p");
        assert_int_equal(unlink(in_dir("p")), 0);
        run_until(strstr(a.why, "was removed"));
        assert_int_equal(a.state, SOURCE_OPEN);
        assert_int_equal(write(fd, "abc", 3), 3);
        run_until(a.size == 3);
        close(fd);
        source_close(&a.source);
}

/* A program that writes to the old FIFO must not be killed because a new one has its name. */
TEST_WITH(replaced_waits_for_the_last_writer, set_up, tear_down)
{
        assert_int_equal(mkfifo(in_dir("p"), 0600), 0);
        hear(&a, "fifo:%s/p", dir);
        run_until(a.state == SOURCE_OPEN);
        int fd = writer("p");
        assert_int_equal(unlink(in_dir("p")), 0);
        assert_int_equal(mkfifo(in_dir("p"), 0600), 0);
        run_until(strstr(a.why, "was replaced"));
        assert_int_equal(write(fd, "old", 3), 3);
        run_until(a.size == 3);
        assert_int_equal(a.cuts, 0);
        close(fd);
        run_until(a.cuts == 1 && source_stats(a.source)->attaches == 2);
        fd = writer("p");
        assert_true(fd >= 0);
        assert_int_equal(write(fd, "new", 3), 3);
        run_until(a.size == 3);
        assert_string_equal(a.text, "new");
        close(fd);
        source_close(&a.source);
}

/* ------------------------------------------------------------------- stdin */

/* Replaces standard input by `fd`; returns the old one. */
static int swap_stdin(int fd)
{
        int old = dup(STDIN_FILENO);

        assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
        close(fd);
        return old;
}

static void restore_stdin(int old)
{
        if (old >= 0) {
                dup2(old, STDIN_FILENO);
                close(old);
        }
}

TEST_WITH(stdin_pipe_to_its_end, set_up, tear_down)
{
        int ends[2];

        assert_int_equal(pipe(ends), 0);
        int old = swap_stdin(ends[0]);
        hear(&a, "stdin:");
        run_until(a.state == SOURCE_OPEN);
        assert_int_equal(write(ends[1], "abc", 3), 3);
        run_until(a.size == 3);
        assert_int_equal(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0); /* others who share it see no change */
        close(ends[1]);
        run_until(a.state == SOURCE_ENDED);
        assert_int_equal(a.cuts, 0);
        assert_false(source_is_local(a.source));
        source_close(&a.source);
        restore_stdin(old);
}

TEST_WITH(stdin_may_be_a_file, set_up, tear_down)
{
        static char chunk[1 << 20];
        struct heard *h = &a;

        int fd = open(in_dir("x"), O_RDWR | O_CREAT, 0600);
        for (int i = 0; i < 6; i++)
                assert_int_equal(write(fd, chunk, sizeof(chunk)), sizeof(chunk));
        assert_int_equal(lseek(fd, 100, SEEK_SET), 100); /* where the shell left it */
        int old = swap_stdin(fd);
        hear(h, "stdin:");
        run_until(h->state == SOURCE_ENDED);
        assert_int_equal(h->total, sizeof(chunk) * 6 - 100);
        source_close(&h->source);
        fd = open("/dev/null", O_RDONLY);
        restore_stdin(swap_stdin(fd));
        hear(h, "stdin:");
        run_until(h->state == SOURCE_ENDED);
        source_close(&h->source);
        restore_stdin(old);
}

TEST_WITH(stdin_has_one_reader, set_up, tear_down)
{
        struct source_sink sink = { &a, on_bytes, on_more, on_cut, on_state, NULL };
        struct source_uri uri;
        struct error error = { "" };
        int ends[2];

        assert_int_equal(pipe(ends), 0);
        int old = swap_stdin(ends[0]);
        hear(&a, "stdin:");
        assert_true(source_uri_parse("stdin:", &uri, &error));
        assert_null(source_open(base, &uri, &sink, NULL, &error));
        assert_non_null(strstr(error.text, "already read"));
        source_close(&a.source);
        struct source *again = source_open(base, &uri, &sink, NULL, &error);
        assert_non_null(again);
        source_close(&again);
        close(ends[1]);
        restore_stdin(old);
}

/* The end comes after what its sink has not taken yet. */
TEST_WITH(taken_in_several_turns, set_up, tear_down)
{
        assert_int_equal(mkfifo(in_dir("f"), 0600), 0);
        hear(&a, "fifo:%s/f", dir);
        run_until(a.state == SOURCE_OPEN);
        a.turns = 50;
        int w = open(in_dir("f"), O_WRONLY | O_NONBLOCK);
        assert_true(w >= 0);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(write(w, "abc", 3), 3);
                run_until(a.size == 3u * (unsigned)(i + 1));
        }
        assert_string_equal(a.text, "abcabcabc");
        close(w);
        source_close(&a.source);
}
