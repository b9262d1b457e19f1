/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recordings can be read: as a whole, in stretches, and with a file cut
 * anywhere; and what a disk cannot take is counted.
 */
#include "daemon/record/recorder.h"
#include "daemon/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/agent_socket.h"
#include "proto/base/clock.h"
#include "proto/base/time.h"
#include "proto/base/whole_file.h"
#include "proto/eventlog/writer.h"
#include "proto/eventlog/recording/frame.h"
#include "proto/eventlog/recording/run_dir.h"
#include "proto/eventlog/recording/stretch.h"
#include "tests/unit/record/recorded.h"
#include "tests/unit/test.h"

#define START_NS UINT64_C(1795000000000000000)

static const char *const logs[] = { "leaky-hi-ghc9103", "parallel-full-ghc902",    "cc-hc-ghc966",
                                    "ticky-ghc9103",    "leaky-nonmoving-ghc9103", "steady-hT-thr-ghc9103" };

enum { LOGS = sizeof(logs) / sizeof(logs[0]) };

/* ----------------------------------------------------------------- the disk */

static char root[] = "/tmp/hw-recorder-XXXXXX";

static int make_root(void **state)
{
        return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *place)
{
        return remove(path);
}

static int remove_root(void **state)
{
        return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int empty_root(void **state)
{
        assert_int_equal(remove_root(NULL), 0);
        return mkdir(root, 0700);
}

TEST_EACH(empty_root, NULL)

static struct recorder *open_recorder(struct budget budget)
{
        struct recorder_options options = { .directory = root, .budget = budget };
        struct error error;
        struct recorder *r = recorder_new(&options, &error);

        if (!r)
                print_message("%s\n", error.text);
        assert_non_null(r);
        return r;
}

static void wait_written(struct recorder *r, uint64_t sequence)
{
        uint64_t until_ns = clock_mono_ns() + 60 * UINT64_C(1000000000);

        while (recorder_written(r) < sequence) {
                assert_true(clock_mono_ns() < until_ns);
                poll(NULL, 0, 2);
        }
}

/* A disk that hangs, as far as the recorder can see: its pwrite does not come back. */
static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool hangs;
} disk = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
        pthread_mutex_lock(&disk.lock);
        while (disk.hangs)
                pthread_cond_wait(&disk.changed, &disk.lock);
        pthread_mutex_unlock(&disk.lock);
        return __real_pwrite(fd, bytes, size, offset);
}

static void disk_hangs(bool hangs)
{
        pthread_mutex_lock(&disk.lock);
        disk.hangs = hangs;
        pthread_cond_broadcast(&disk.changed);
        pthread_mutex_unlock(&disk.lock);
}

/* ------------------------------------------------------------------ playing */

struct playing {
        struct recording *recording;
        uint64_t wall_ns;
        bool in_small_frames;
        unsigned remove_at;        /* behind this piece the directory is removed; 0: never */
        struct recorder *recorder; /* of that */
        struct read_piece piece;   /* as a source has read it */
};

static void on_events(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        struct playing *t = ctx;

        t->wall_ns += 1000000;
        if (!events) {
                recording_begin(t->recording, log, t->wall_ns);
                return;
        }
        recording_events(t->recording, log, &t->piece, events, n, t->wall_ns);
        if (t->in_small_frames)
                recording_seal(t->recording);
        else
                recording_tick(t->recording);
        if (t->remove_at && --t->remove_at == 0) {
                wait_written(t->recorder, recording_seal(t->recording));
                assert_int_equal(remove_root(NULL), 0);
        }
}

/* As a source reads: to where the bytes can be kept. */
static const uint8_t *on_piece(void *ctx, const uint8_t *bytes, size_t size)
{
        struct playing *t = ctx;
        uint8_t *room = read_buffer_room(&t->piece.buffer);

        assert_true(size <= READ_PIECE_BYTES);
        memcpy(room, bytes, size);
        t->piece.data = room;
        t->piece.size = size;
        return room;
}

/* Plays a log and ends; the wall clock goes on by 1 ms with every piece. */
static struct content play_at(struct recorder *r, uint64_t wall_ns, const char *target, const char *log, size_t step)
{
        struct playing t = { .recording = recording_new(r, target), .wall_ns = wall_ns };
        struct bytes b = load_run(log);

        assert_non_null(t.recording);
        struct content c = content_placed(b.p, b.size, step, on_events, &t, on_piece);
        uint64_t last = recording_seal(t.recording);
        wait_written(r, last);
        recording_destroy(&t.recording);
        free(b.p);
        return c;
}

static struct content play(struct recorder *r, const char *target, const char *log, size_t step)
{
        return play_at(r, START_NS, target, log, step);
}

/* A recording of its own, of target "a". */
static struct content record(struct bytes b, struct budget budget, bool in_small_frames)
{
        struct recorder *r = open_recorder(budget);
        struct playing t = { .recording = recording_new(r, "a"),
                             .wall_ns = START_NS,
                             .in_small_frames = in_small_frames };

        assert_non_null(t.recording);
        struct content c = content_placed(b.p, b.size, 4096, on_events, &t, on_piece);
        wait_written(r, recording_seal(t.recording));
        recording_destroy(&t.recording);
        recorder_destroy(&r);
        return c;
}

static struct bytes read_cutout(const struct recorded_run *run, struct cutout_range range, struct cutout_stats *stats)
{
        struct bytes b = { malloc(16u << 20), 0 };
        struct error error;
        struct cutout *c = cutout_open(root, run, range, &error);
        size_t n, step = 1;

        if (!c)
                print_message("%s\n", error.text);
        assert_non_null(b.p);
        assert_non_null(c);
        while ((n = cutout_read(c, b.p + b.size, step)) > 0) { /* in pieces of different sizes */
                b.size += n;
                step = step * 3 % 65521 + 1;
        }
        *stats = *cutout_stats(c);
        cutout_close(&c);
        return b;
}

static struct recorded_run only_run(const char *target)
{
        struct recorded_run run;
        struct error error;

        if (recorded_run_find(root, target, &run, &error) != 0)
                fail_msg("%s", error.text);
        return run;
}

/* -------------------------------------------------------------------- tests */

TEST(test_all_of_it_comes_back)
{
        struct recorder *r = open_recorder((struct budget){ 0 });
        struct content want[LOGS];

        for (size_t i = 0; i < LOGS; i++)
                want[i] = play(r, logs[i], logs[i], 4099);
        recorder_destroy(&r);
        for (size_t i = 0; i < LOGS; i++) {
                struct recorded_run run = only_run(logs[i]);
                struct cutout_stats stats;
                struct bytes b = read_cutout(&run, CUTOUT_ALL, &stats);
                struct content got = content_of(b.p, b.size, b.size, NULL, NULL);
                assert_false(run.live);
                assert_int_equal(stats.missing + stats.lost_bytes, 0);
                assert_int_equal(got.damages, 0);
                assert_int_equal(got.stream, want[i].stream);
                assert_int_equal(got.apart, want[i].apart);
                assert_true(want[i].events > 200);
                free(b.p);
        }
}

TEST(test_stretches_are_logs_with_all_names)
{
        struct recorder *r = open_recorder((struct budget){ .total_bytes = 256u << 10 }); /* small segments */
        struct content whole[LOGS];
        uint64_t random = 7;

        for (size_t i = 0; i < LOGS; i++)
                whole[i] = play(r, logs[i], logs[i], 509);
        recorder_destroy(&r);
        for (size_t i = 0; i < LOGS; i++) {
                struct recorded_run run = only_run(logs[i]);
                for (unsigned k = 0; k < 10; k++) {
                        struct cutout_stats stats;
                        uint64_t a = run.begin_ns + (random = mix(random)) % (run.end_ns - run.begin_ns);
                        uint64_t to = a + (random = mix(random)) % (run.end_ns - a);
                        struct bytes b = read_cutout(&run, (struct cutout_range){ a, to }, &stats);
                        struct content got = content_of(b.p, b.size, b.size, NULL, NULL);
                        const uint8_t *end = memmem(b.p, b.size, RUN_END_MESSAGE, strlen(RUN_END_MESSAGE));
                        /* of no capability: a program that is read from outside has none */
                        assert_true(end && end[-14] == 0xff && end[-13] == 0xff);
                        assert_int_equal(got.damages, 0);
                        assert_int_equal(got.apart, whole[i].apart);
                        assert_true(got.arguments >= 1);
                        assert_true(got.events <= whole[i].events + 64);
                        free(b.p);
                }
        }
}

/* A recording that was cut at any byte, as by a loss of power, opens and is good up to its last whole frame. */
TEST(test_cut_anywhere)
{
        char path[RECORDED_PATH_MAX + 64];
        struct stat st;

        struct recorder *r = open_recorder((struct budget){ 0 });
        play(r, "a", "leaky-hi-ghc9103", 64);
        recorder_destroy(&r);
        struct recorded_run run = only_run("a");
        struct cutout_stats stats;
        snprintf(path, sizeof(path), "%s/a/%s/000001.zst", root, run.name);
        assert_int_equal(stat(path, &st), 0);
        struct bytes all = read_cutout(&run, CUTOUT_ALL, &stats);
        uint64_t events = content_of(all.p, all.size, all.size, NULL, NULL).events;
        free(all.p);
        for (off_t size = st.st_size; size > 0; size -= 997) {
                assert_int_equal(truncate(path, size), 0);
                struct bytes b = read_cutout(&run, CUTOUT_ALL, &stats);
                struct content got = content_of(b.p, b.size, b.size, NULL, NULL);
                assert_int_equal(got.damages, 0);
                assert_true(got.events <= events);
                free(b.p);
        }
}

/* A run that was cut off in its last segment ends where it was cut off: it had no end marker, and gets none. */
TEST(test_cut_in_the_first_frame_of_a_segment)
{
        char path[RECORDED_PATH_MAX + 64];
        struct cutout_stats stats;

        struct bytes b = load_run("leaky-hi-ghc9103");
        (void)record(b, (struct budget){ .target_bytes = 64u << 10 }, true);
        struct recorded_run run = only_run("a");
        assert_true(run.last > 1);
        snprintf(path, sizeof(path), "%s/a/%s/%06u.zst", root, run.name, run.last);
        assert_int_equal(truncate(path, 67), 0);
        run = only_run("a");
        struct bytes cut = read_cutout(&run, CUTOUT_ALL, &stats);
        struct content got = content_of(cut.p, cut.size, cut.size, NULL, NULL);
        assert_true(got.events > 0);
        assert_int_equal(got.ends, 0);
        free(cut.p);
        free(b.p);
}

TEST(test_the_oldest_goes_first)
{
        struct budget budget = { .total_bytes = 64u << 10, .target_bytes = 48u << 10 };
        struct recorder *r = open_recorder(budget);
        struct budget_use use;

        for (unsigned i = 0; i < 4; i++)
                play(r, i % 2 ? "odd" : "even", "leaky-hi-ghc9103", 4096);
        recorder_destroy(&r);
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns(), &use), 0);
        assert_true(use.bytes <= budget.total_bytes);
        struct recorded_run *runs;
        int n = recorded_runs(root, NULL, &runs, NULL);
        assert_true(n >= 1 && n < 4);
        assert_int_equal(runs[n - 1].begin_wall_ns >= runs[0].begin_wall_ns, 1);
        free(runs);
        budget = (struct budget){ .age_ns = 1 };
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns() + 1000, &use), 0);
        assert_int_equal(use.bytes, 0);
}

/* A profile that was kept with a run is counted with it, found by its time, and goes by its age or with the run. */
TEST(test_a_profile_is_of_its_run)
{
        const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
        char path[RECORDED_PATH_MAX], found[RECORDED_PATH_MAX], name[PROFILE_NAME_BYTES];
        struct budget_use use;
        uint64_t wall_ns;

        struct bytes b = load_run("leaky-hi-ghc9103");
        (void)record(b, (struct budget){ 0 }, true);
        free(b.p);
        struct recorded_run run = only_run("a");
        const uint64_t bytes = run.bytes;
        assert_int_equal(run.profiles, 0);
        assert_false(recorded_run_profile(root, &run, 0, UINT64_MAX, found, &wall_ns));
        assert_int_equal(recorded_run_path(path, root, &run), 0);
        const size_t n = strlen(path);
        for (unsigned second = 1; second <= 3; second++) { /* the last one was not written to its end */
                profile_name_make(name, run.end_wall_ns - second * NS_PER_S);
                (void)snprintf(path + n, sizeof(path) - n, "/%s%s", name, second == 3 ? ".new" : "");
                assert_int_equal(whole_file_write(path, "head\n\n", 6), 0);
                assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
        }
        run = only_run("a");
        assert_int_equal(run.profiles, 2);
        assert_int_equal(run.bytes, bytes + 18);
        assert_true(recorded_run_profile(root, &run, 0, UINT64_MAX, found, &wall_ns));
        assert_in_range(run.end_wall_ns - wall_ns, NS_PER_S, NS_PER_S + NS_PER_MS); /* the newest */
        assert_true(recorded_run_profile(root, &run, 0, run.end_ns - 3 * NS_PER_S / 2, found, &wall_ns));
        assert_in_range(run.end_wall_ns - wall_ns, 2 * NS_PER_S, 2 * NS_PER_S + NS_PER_MS);
        assert_false(recorded_run_profile(root, &run, run.end_ns, UINT64_MAX, found, &wall_ns));
        const struct budget budget = { .total_bytes = bytes };
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns(), &use), 0);
        assert_int_equal(use.removed, 3);
        assert_int_equal(use.bytes, bytes);
        assert_int_equal(whole_file_write(path, "head\n\n", 6), 0);
        run = only_run("a");
        assert_int_equal(recorded_run_delete(root, &run), 0);
        assert_int_equal(access(path, F_OK), -1);
}

/* What others fill the disk with costs no recording: nothing that is removed would make room enough. */
TEST(test_a_full_disk_removes_nothing)
{
        struct budget budget = { .free_bytes = 0 };
        struct recorder *r = open_recorder(budget);
        struct budget_use use, before;

        for (unsigned i = 0; i < 3; i++)
                play(r, "a", "leaky-hi-ghc9103", 4096);
        recorder_destroy(&r);
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns(), &before), 0);
        assert_true(before.bytes > 0 && !before.no_room);
        budget.free_bytes = UINT64_MAX / 2;
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns(), &use), 0);
        assert_true(use.no_room);
        assert_int_equal(use.removed, 0);
        assert_int_equal(use.bytes, before.bytes);
        budget.total_bytes = before.bytes / 2; /* its own limits still hold */
        assert_int_equal(budget_enforce(root, &budget, clock_wall_ns(), &use), 0);
        assert_true(use.removed > 0 && use.bytes <= budget.total_bytes);
}

/* What somebody has pinned stays, whatever the budget; a pin that was left behind counts for nothing. */
TEST(test_pinned_segments_stay)
{
        struct bytes b = load_run("leaky-hi-ghc9103");
        (void)record(b, (struct budget){ .target_bytes = 256u << 10 }, true); /* small segments */
        free(b.p);
        struct recorded_run run = only_run("a"), left;
        struct budget tiny = { .total_bytes = 1 };
        struct budget_use use;
        struct pin pin;
        assert_true(run.last > 2);
        assert_int_equal(pin_acquire(&pin, root, &run, run.begin_ns + (run.end_ns - run.begin_ns) / 2), 0);
        assert_int_equal(budget_enforce(root, &tiny, START_NS, &use), 0);
        left = only_run("a");
        assert_true(left.first > run.first && left.last == run.last);
        assert_true(left.begin_ns <= run.begin_ns + (run.end_ns - run.begin_ns) / 2);
        struct cutout_stats stats;
        struct bytes cut = read_cutout(&left, CUTOUT_ALL, &stats);
        assert_true(content_of(cut.p, cut.size, cut.size, NULL, NULL).events > 100);
        free(cut.p);
        close(pin.fd); /* as if its owner had been killed */
        assert_int_equal(budget_enforce(root, &tiny, START_NS, &use), 0);
        assert_int_equal(use.bytes, 0);
        assert_int_equal(access(pin.path, F_OK), -1);
}

/* A file that may not grow beyond this plays a full disk. Returns what was the limit. */
static struct rlimit limit_files(rlim_t bytes)
{
        struct rlimit old, small = { .rlim_cur = bytes };

        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
        small.rlim_max = old.rlim_max;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        return old;
}

/* Of the recordings that a full disk pauses one is the first, until it is over. */
TEST(test_the_first_of_those_paused)
{
        struct recording_state first, other;

        struct recorder *r = open_recorder((struct budget){ 0 });
        struct playing t = { .recording = recording_new(r, "a"), .wall_ns = START_NS, .in_small_frames = true };
        struct playing u = { .recording = recording_new(r, "b"), .wall_ns = START_NS, .in_small_frames = true };
        struct bytes b = load_run("leaky-hi-ghc9103");
        const struct rlimit old = limit_files(20000);
        (void)content_placed(b.p, b.size, 4096, on_events, &t, on_piece);
        (void)content_placed(b.p, b.size, 4096, on_events, &u, on_piece);
        wait_written(r, recording_seal(u.recording));
        recording_tick(t.recording);
        recording_tick(u.recording);
        recording_state(t.recording, &first);
        recording_state(u.recording, &other);
        assert_true(first.paused && first.first_paused && first.paused_runs == 2);
        assert_true(other.paused && !other.first_paused && other.paused_runs == 2);
        recording_destroy(&t.recording);
        recording_tick(u.recording);
        recording_state(u.recording, &other);
        assert_true(other.paused && other.first_paused && other.paused_runs == 1);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        recording_destroy(&u.recording);
        recorder_destroy(&r);
        free(b.p);
}

TEST(test_full_disk)
{
        struct recording_state s;

        struct recorder *r = open_recorder((struct budget){ 0 });
        struct playing t = { .recording = recording_new(r, "a"), .wall_ns = START_NS, .in_small_frames = true };
        struct bytes b = load_run("leaky-hi-ghc9103");
        const struct rlimit old = limit_files(20000);
        (void)content_placed(b.p, b.size, 4096, on_events, &t, on_piece);
        wait_written(r, recording_seal(t.recording));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        recording_state(t.recording, &s);
        assert_true(s.recording);
        assert_true(s.paused);
        assert_non_null(strstr(s.detail, "File too large"));
        assert_true(s.lost_bytes > 0 && s.lost_bytes < s.bytes);
        recording_destroy(&t.recording);
        recorder_destroy(&r);
        struct recorded_run run = only_run("a");
        struct cutout_stats stats;
        struct bytes cut = read_cutout(&run, CUTOUT_ALL, &stats);
        assert_int_equal(content_of(cut.p, cut.size, cut.size, NULL, NULL).damages, 0);
        free(cut.p);
        free(b.p);
}

/* Blocks of 64 KiB, each with a thread's label and many small events, until `size` bytes are there. */
static struct bytes many_blocks(size_t size)
{
        struct eventlog_writer *w = malloc(sizeof(*w));
        struct bytes b = { malloc(size + (1u << 20)), 0 };
        uint64_t t = 1000;

        assert_non_null(w);
        assert_non_null(b.p);
        w->n = 0;
        w->failed = false;
        writer_header_begin(w);
        writer_type(w, HW_BLOCK_MARKER, 14, "block marker");
        writer_type(w, HW_THREAD_RUNNABLE, 4, "thread runnable");
        writer_type(w, HW_THREAD_LABEL, WRITER_VARIABLE, "thread label");
        writer_header_end(w);
        while (b.size < size) {
                writer_block_begin(w, t, t + 100000, 0);
                for (uint32_t i = 0; i < 4000; i++) {
                        writer_event(w, HW_THREAD_RUNNABLE, ++t);
                        writer_number(w, i, 4);
                        if (i != 2000)
                                continue;
                        writer_event(w, HW_THREAD_LABEL, t);
                        size_t length = writer_length_begin(w);
                        writer_number(w, t, 4);
                        writer_bytes(w, "a name", 6);
                        writer_length_end(w, length, 0);
                }
                writer_block_end(w);
                assert_false(w->failed);
                memcpy(b.p + b.size, w->data, w->n);
                b.size += w->n;
                w->n = 0;
                t += 200000;
        }
        free(w);
        return b;
}

static void count_labels(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        unsigned *labels = ctx;

        for (size_t i = 0; i < n; i++)
                *labels += events[i].id == HW_THREAD_LABEL;
}

/* Nothing waits for a hanging disk: what does not fit is counted, and every definition is kept. */
TEST(test_a_disk_that_hangs)
{
        struct recording_state s;
        struct cutout_stats stats;
        unsigned labels = 0, want = 0;

        struct recorder *r = open_recorder((struct budget){ 0 });
        struct playing t = { .recording = recording_new(r, "a"), .wall_ns = START_NS };
        struct bytes b = many_blocks(12u << 20);
        disk_hangs(true);
        struct content first = content_placed(b.p, b.size, 16384, on_events, &t, on_piece);
        (void)content_of(b.p, b.size, b.size, count_labels, &want);
        recording_state(t.recording, &s);
        assert_true(s.lost_bytes > (6u << 20) && s.lost_bytes < s.bytes);
        assert_int_equal(s.lost_frames, 1);
        assert_true(s.paused);
        assert_true(!strcmp(s.detail, "the disk does not take the streams in time") ||
                    !strcmp(s.detail, "the disk has not answered for 10 s")); /* on a machine as slow as that */
        assert_true(read_buffers_in_use() <= 42);
        disk_hangs(false);
        wait_written(r, recording_seal(t.recording));
        recording_destroy(&t.recording);
        recorder_destroy(&r);
        struct recorded_run run = only_run("a");
        struct bytes cut = read_cutout(&run, CUTOUT_ALL, &stats);
        struct content got = content_of(cut.p, cut.size, cut.size, count_labels, &labels);
        assert_int_equal(got.damages, 0);
        assert_true(got.events > 0 && got.events < first.events);
        assert_int_equal(labels, want);
        assert_int_equal(run.lost_bytes, s.lost_bytes); /* also in its files, though nothing was recorded behind it */
        free(cut.p);
        free(b.p);
}

/* What follows is recorded all the same, with the names from before. */
TEST(test_a_directory_that_is_removed)
{
        struct cutout_stats stats;
        unsigned labels = 0, want = 0;

        struct recorder *r = open_recorder((struct budget){ 0 });
        struct playing t = { .recording = recording_new(r, "a"), .wall_ns = START_NS, .remove_at = 8, .recorder = r };
        struct bytes b = many_blocks(1u << 20);
        struct content first = content_placed(b.p, b.size, 16384, on_events, &t, on_piece);
        (void)content_of(b.p, b.size, b.size, count_labels, &want);
        wait_written(r, recording_seal(t.recording));
        recording_destroy(&t.recording);
        recorder_destroy(&r);
        struct recorded_run run = only_run("a");
        struct bytes cut = read_cutout(&run, CUTOUT_ALL, &stats);
        struct content got = content_of(cut.p, cut.size, cut.size, count_labels, &labels);
        assert_int_equal(got.damages + run.lost_bytes, 0);
        assert_true(got.events > first.events / 2 && got.events < first.events);
        assert_int_equal(labels, want);
        free(cut.p);
        free(b.p);
}

/* A disk that has taken nothing: not more is lost than there was. */
TEST(test_all_is_lost)
{
        struct recording_state s;

        const struct rlimit old = limit_files(0);
        struct recorder *r = open_recorder((struct budget){ 0 });
        struct playing t = { .recording = recording_new(r, "a"), .wall_ns = START_NS, .in_small_frames = true };
        struct bytes b = many_blocks(1u << 20);
        (void)content_placed(b.p, b.size, 509, on_events, &t, on_piece);
        wait_written(r, recording_seal(t.recording));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        recording_state(t.recording, &s);
        assert_true(s.paused);
        assert_true(s.bytes > (1u << 19));
        assert_int_equal(s.lost_bytes, s.bytes);
        recording_end(t.recording, true);
        wait_written(r, recording_seal(t.recording));
        struct recording *left = recording_leave(t.recording);
        recording_state(t.recording, &s);
        assert_false(s.recording || s.paused);
        assert_true(s.bytes > (1u << 19) && s.detail[0]);
        assert_int_equal(s.lost_bytes, s.bytes); /* that is known after its end, too */
        recording_state(left, &s);
        assert_true(s.bytes > (1u << 19));
        assert_int_equal(s.lost_bytes, s.bytes);
        recording_destroy(&left);
        recording_destroy(&t.recording);
        recorder_destroy(&r);
        free(b.p);
}

/* Flips a bit in the middle of a file's frame; how many frames the file has. */
static unsigned damage_frame(const char *path, unsigned which)
{
        uint8_t head_bytes[FRAME_HEAD_BYTES], byte;
        struct frame_head head;
        int fd = open(path, O_RDWR | O_CLOEXEC);
        off_t at = 0;
        unsigned n = 0;

        assert_true(fd >= 0);
        for (; pread(fd, head_bytes, sizeof(head_bytes), at) == (ssize_t)sizeof(head_bytes); n++) {
                assert_true(frame_head_read(head_bytes, &head));
                const off_t middle = at + (off_t)FRAME_HEAD_BYTES + (off_t)head.stored / 2;
                at += (off_t)FRAME_HEAD_BYTES + (off_t)head.stored;
                if (n != which)
                        continue;
                assert_int_equal(pread(fd, &byte, 1, middle), 1);
                byte ^= 0x10;
                assert_int_equal(pwrite(fd, &byte, 1, middle), 1);
        }
        (void)close(fd);
        return n;
}

/* What a frame that cannot be read defined is kept apart, too, and comes before the next frame. */
TEST(test_definitions_of_a_damaged_frame)
{
        char path[RECORDED_PATH_MAX + 64];
        struct cutout_stats stats;
        unsigned labels = 0, want = 0;

        struct bytes b = many_blocks(2u << 20);
        struct content whole = record(b, (struct budget){ 0 }, false);
        (void)content_of(b.p, b.size, b.size, count_labels, &want);
        struct recorded_run run = only_run("a");
        (void)snprintf(path, sizeof(path), "%s/a/%s/000001.zst", root, run.name);
        assert_true(damage_frame(path, 3) > 6);
        struct bytes cut = read_cutout(&run, CUTOUT_ALL, &stats);
        struct content got = content_of(cut.p, cut.size, cut.size, count_labels, &labels);
        assert_int_equal(stats.missing, 1);
        assert_int_equal(got.damages, 0);
        assert_true(got.events > whole.events / 2 && got.events < whole.events);
        assert_int_equal(labels, want);
        free(cut.p);
        free(b.p);
}

/* ------------------------------------------------------------ runs that go on */

/* A daemon that is started again in the middle of a run. */
struct restart {
        struct playing t;
        struct recorder *r;
        size_t batches; /* after which it is stopped */
        bool starts;    /* and started again at once; otherwise the rest of the run is not recorded */
        bool cuts;      /* the newest of what is on disk is cut off meanwhile */
};

static void cut_segment(const char *run)
{
        char path[RECORDED_PATH_MAX + 64];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%s/a/%s/000001.zst", root, run);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(truncate(path, st.st_size - st.st_size / 4), 0);
}

static void stop_recording(struct restart *d)
{
        recording_destroy(&d->t.recording);
        recorder_destroy(&d->r);
}

/* One that continues the recording of that name. */
static void start_recording(struct restart *d, uint64_t begin_ns)
{
        d->r = open_recorder((struct budget){ 0 });
        d->t.recording = recording_new(d->r, "a");
        assert_non_null(d->t.recording);
        recording_recall(d->t.recording, "a", begin_ns, (struct recording_counts){ 0 });
}

static void on_restart(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        struct restart *d = ctx;

        if (!d->r)
                return;
        on_events(&d->t, log, events, n);
        if (!events || --d->batches > 0)
                return;
        uint64_t begin_ns = recording_begin_ns(d->t.recording);
        stop_recording(d);
        if (d->cuts)
                cut_segment(only_run("a").name);
        if (!d->starts)
                return;
        start_recording(d, begin_ns);
        recording_resume(d->t.recording, log, true, d->t.wall_ns);
}

static const uint8_t *on_restart_piece(void *ctx, const uint8_t *bytes, size_t size)
{
        return on_piece(&((struct restart *)ctx)->t, bytes, size);
}

static struct content play_restarted(struct bytes b, size_t batches, bool starts)
{
        struct restart d = { .t.wall_ns = START_NS, .batches = batches, .starts = starts };

        start_recording(&d, 0);
        struct content c = content_placed(b.p, b.size, 509, on_restart, &d, on_restart_piece);
        if (d.r)
                stop_recording(&d);
        return c;
}

struct joining {
        struct playing t;
        bool same_stream;
};

static void on_joined(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        struct joining *j = ctx;

        if (events)
                on_events(&j->t, log, events, n);
        else
                recording_resume(j->t.recording, log, j->same_stream, j->t.wall_ns);
}

static const uint8_t *on_joined_piece(void *ctx, const uint8_t *bytes, size_t size)
{
        return on_piece(&((struct joining *)ctx)->t, bytes, size);
}

/* A daemon reads it from its beginning, as more of the run that is recorded. */
static void play_again(struct bytes b, uint64_t begin_ns, bool same_stream)
{
        struct recorder *r = open_recorder((struct budget){ 0 });
        struct joining j = { .t = { .recording = recording_new(r, "a"), .wall_ns = START_NS + 7000000000 },
                             .same_stream = same_stream };

        recording_recall(j.t.recording, "a", begin_ns, (struct recording_counts){ 0 });
        (void)content_placed(b.p, b.size, 4096, on_joined, &j, on_joined_piece);
        recording_destroy(&j.t.recording);
        recorder_destroy(&r);
}

static struct content recorded_content(const struct recorded_run *run)
{
        struct cutout_stats stats;
        struct bytes b = read_cutout(run, CUTOUT_ALL, &stats);
        struct content c = content_of(b.p, b.size, b.size, NULL, NULL);

        assert_int_equal(c.damages + stats.missing, 0);
        free(b.p);
        return c;
}

static unsigned count_runs(void)
{
        struct recorded_run *runs;
        struct error error;
        int n = recorded_runs(root, "a", &runs, &error);

        assert_true(n >= 0);
        free(runs);
        return (unsigned)n;
}

static void assert_one_whole_run(const struct content *want)
{
        struct recorded_run run = only_run("a");
        struct content got = recorded_content(&run);

        assert_int_equal(count_runs(), 1);
        assert_int_equal(run.lost_bytes, 0);
        assert_int_equal(got.stream, want->stream);
        assert_int_equal(got.apart, want->apart);
        assert_true(got.arguments >= 1);
}

/* A run is one recording, however often the daemon is started again meanwhile: whole, and with all definitions. */
TEST(test_a_run_goes_on_in_its_recording)
{
        for (size_t i = 0; i < LOGS; i++) {
                struct bytes b = load_run(logs[i]);
                (void)empty_root(NULL);
                struct content want = play_restarted(b, 5 + 3 * i, true);
                assert_one_whole_run(&want);
                free(b.p);
        }
}

/* A file is read again from the newest checkpoint: what is recorded already is not recorded twice. */
TEST(test_what_is_read_again_is_recorded_once)
{
        for (size_t i = 0; i < LOGS; i++) {
                struct bytes b = load_run(logs[i]);
                (void)empty_root(NULL);
                struct content want = play_restarted(b, 5 + i, false);
                struct recorded_run run = only_run("a");
                assert_true(recorded_content(&run).events < want.events);
                play_again(b, run.begin_wall_ns, true);
                assert_one_whole_run(&want);
                free(b.p);
        }
}

/* As after a power cut: what is missing before the rest is counted. */
TEST(test_what_was_cut_off_before_it_went_on_is_counted)
{
        struct bytes b = load_run("leaky-hi-ghc9103");
        struct restart d = {
                .t = { .wall_ns = START_NS, .in_small_frames = true }, .batches = 40, .starts = true, .cuts = true
        };
        start_recording(&d, 0);
        struct content want = content_placed(b.p, b.size, 509, on_restart, &d, on_restart_piece);
        stop_recording(&d);
        struct recorded_run run = only_run("a");
        struct content got = recorded_content(&run);
        assert_int_equal(count_runs(), 1);
        assert_in_range(run.lost_bytes, 100, b.size / 2);
        assert_true(got.events < want.events && got.events > want.events / 2);
        free(b.p);
}

/* A run continues after a gap of unknown size; another header, or another run, is recorded apart. */
TEST(test_another_stream_of_the_run)
{
        struct bytes b = load_run("leaky-hi-ghc9103"), other = many_blocks(1u << 20);
        struct content want = play_restarted(b, 9, false);
        struct recorded_run run = only_run("a");
        const uint64_t first = recorded_content(&run).events, began_ns = run.begin_wall_ns;
        play_again(b, began_ns, false);
        run = only_run("a");
        assert_int_equal(count_runs(), 1);
        assert_int_equal(recorded_content(&run).events, first + want.events);
        play_again(other, began_ns, false);
        assert_int_equal(count_runs(), 2);
        play_again(other, 0, true);
        assert_int_equal(count_runs(), 3);
        free(other.p);
        free(b.p);
}

/* What an earlier process of the daemon lost of a run is still said in the next one. */
TEST(test_counts_survive_a_restart)
{
        const struct recording_counts before = { .bytes = 1000, .lost_bytes = 300, .lost_frames = 2 };
        struct recorder *r = open_recorder((struct budget){ 0 });
        struct recording *recording = recording_new(r, "a");
        struct recording_state now;

        recording_recall(recording, "a", START_NS, before);
        recording_state(recording, &now);
        assert_int_equal(now.bytes, 1000);
        assert_int_equal(now.lost_bytes, 300);
        assert_int_equal(now.lost_frames, 2);
        recording_destroy(&recording);
        recorder_destroy(&r);
}

TEST(test_directories_of_others_are_refused)
{
        struct recorder_options options = { .directory = root };
        struct error error;

        assert_int_equal(chmod(root, 0755), 0);
        assert_null(recorder_new(&options, &error));
        assert_non_null(strstr(error.text, "chmod 700"));
        assert_int_equal(chmod(root, 0700), 0);
        options.directory = "/proc/1/nowhere";
        assert_null(recorder_new(&options, &error));
}

TEST(test_runs_are_found_by_name)
{
        struct recorded_run run;
        struct error error;

        struct recorder *r = open_recorder((struct budget){ 0 });
        struct content newest;
        for (unsigned i = 0; i < 3; i++) /* the clock is set back each time */
                newest = play_at(r, START_NS - i * UINT64_C(3600000000000), "api", logs[i], 4096);
        recorder_destroy(&r);
        assert_int_equal(recorded_run_find(root, "api@-2", &run, &error), 0);
        struct recorded_run oldest = run;
        assert_int_equal(recorded_run_find(root, "api", &run, &error), 0);
        assert_true(strcmp(run.name, oldest.name) > 0 && recorded_content(&run).events == newest.events);
        assert_int_equal(recorded_run_find(root, "api@-3", &run, &error), -ENOENT);
        assert_non_null(strstr(error.text, "3 recorded runs"));
        assert_int_equal(recorded_run_find(root, "other", &run, &error), -ENOENT);
        assert_int_equal(recorded_run_find(root, "../etc", &run, &error), -EINVAL);
        assert_int_equal(recorded_run_delete(root, &run), 0);
}

TEST_GROUP(make_root, remove_root)
