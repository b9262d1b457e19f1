/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole agent in a program with a stand-in for GHC's runtime: the symbols it
 * looks for, threads that write events, collect and take censuses, flushes and
 * pauses, an end. Under TSan and valgrind: the stand-in itself is left out of the
 * former, as the real one is not built with it, so what is reported is the
 * agent's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/control.h"
#include "agent/life.c" /* it acts by being linked */
#include "proto/base/bytes.h"
#include "proto/base/outside_census.h"

/* What follows is declared by GHC, and stores functions as words. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"

#define UNWATCHED __attribute__((no_sanitize("thread")))

void interpose_options(char *words)
{
}

void interpose_profile_file(bool unwanted)
{
}

/* ------------------------------------------------------------- the stand-in */

/* As GHC 9.6 has them: the agent knows its flags by their size. */
void FlagDefaultsHook(void)
{
}
void OnExitHook(void)
{
}
void MallocFailHook(void)
{
}
/* While no file is open the real ones would crash. A program that flushes its buffers itself calls them. */
static int own_log = -1;

static void file_act(void)
{
        if (own_log < 0)
                abort();
}
static bool file_write(void *bytes, size_t size)
{
        file_act();
        return write(own_log, bytes, size) == (ssize_t)size;
}
struct event_log_writer FileEventLogWriter = { file_act, file_write, file_act, file_act };
struct rts_config defaultRtsConfig = {
        .word = { (void *)RTS_OPTIONS_SAFE_ONLY, NULL, NULL, NULL, NULL, &FileEventLogWriter, (void *)FlagDefaultsHook,
                  (void *)OnExitHook, NULL, NULL, (void *)MallocFailHook },
};
struct rts_config rtsConfig;
uint8_t RtsFlags[472];
int64_t end_init_elapsed;
bool rts_shutdown, eventlog_enabled;
uint8_t TRACE_sched, TRACE_gc, TRACE_user, TRACE_cap;
uint8_t performHeapProfile;
char *prog_name;
FILE *hp_file;
uint32_t n_capabilities = 1;
const struct event_log_writer *event_log_writer;
struct event_buffer eventBuf, *capEventBuf;

static int threaded = 1;
static pthread_mutex_t capability_lock = PTHREAD_MUTEX_INITIALIZER; /* the only one */
static struct timespec began;

int rts_isThreaded(void)
{
        return threaded;
}

UNWATCHED int64_t stat_getElapsedTime(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (t.tv_sec - began.tv_sec) * INT64_C(1000000000) + t.tv_nsec - began.tv_nsec;
}

UNWATCHED static void put(struct event_buffer *b, uint64_t v, size_t n)
{
        put_be(b->position, v, n);
        b->position += n;
}

UNWATCHED static void open_block(struct event_buffer *b)
{
        b->position = b->marker = b->begin;
        put(b, 18, 2);
        put(b, (uint64_t)stat_getElapsedTime(), 8);
        put(b, 0, 4);
        put(b, 0, 8);
        put(b, b->capability, 2);
}

UNWATCHED static void write_block(struct event_buffer *b)
{
        put_be(b->marker + 10, (uint64_t)(b->position - b->marker), 4);
        put_be(b->marker + 14, (uint64_t)stat_getElapsedTime(), 8);
        if (event_log_writer)
                event_log_writer->write(b->begin, (size_t)(b->position - b->begin));
        open_block(b);
}

/* With the capability. */
UNWATCHED static void post(unsigned type, const void *payload, size_t n, bool variable)
{
        if (!eventlog_enabled)
                return;
        if (capEventBuf->position + 12 + n > capEventBuf->begin + 65536)
                write_block(capEventBuf);
        put(capEventBuf, type, 2);
        put(capEventBuf, (uint64_t)stat_getElapsedTime(), 8);
        if (variable)
                put(capEventBuf, n, 2);
        if (n > 0)
                memcpy(capEventBuf->position, payload, n);
        capEventBuf->position += n;
}

UNWATCHED bool startEventLogging(const struct event_log_writer *w)
{
        static uint8_t log_header[] =
                "hdrbhetb"
                "etb\0\0\x09\0\0\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x0a\0\0\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x10\xff\xff\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x12\0\x0e\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x13\xff\xff\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\x2d\0\x02\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\xa2\0\x08\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\xa4\xff\xff\0\0\0\0\0\0\0\0ete\0"
                "etb\0\0\xa5\0\x08\0\0\0\0\0\0\0\0ete\0"
                "hetehdredatb";

        event_log_writer = w;
        w->init();
        w->write(log_header, sizeof(log_header) - 1);
        open_block(capEventBuf);
        eventlog_enabled = true;
        return true;
}

UNWATCHED void flushEventLog(void **capability)
{
        if (eventlog_enabled)
                write_block(capEventBuf);
}

void *rts_lock(void)
{
        pthread_mutex_lock(&capability_lock);
        return &capability_lock;
}

void rts_unlock(void *capability)
{
        pthread_mutex_unlock(capability);
}

/* The program's GHCRTS. rts_pause of 9.10 hangs with the nonmoving collector. */
static const char *program_options = "";

static bool has(const char *option)
{
        return strstr(program_options, option) != NULL;
}

/* The runtime's own, for --null-eventlog-writer. */
static void null_act(void)
{
}
static bool null_write(void *bytes, size_t size)
{
        (void)bytes, (void)size;
        return true;
}
static const struct event_log_writer null_writer = { null_act, null_write, null_act, null_act };

void *rts_pause(void)
{
        if (has("-xn"))
                abort();
        return rts_lock();
}

void rts_resume(void *token)
{
        rts_unlock(token);
}

void initHeapProfiling(void)
{
        hp_file = fopen("/dev/null", "w");
}

void stopHeapProfTimer(void)
{
}

UNWATCHED void setupRtsFlags(int *argc, char **argv, struct rts_config config)
{
        (void)argc, (void)argv;
        TRACE_gc = strstr(config.word[CONFIG_OPTIONS], "g") != NULL;
}

/* With the capability: a collection, and a census if one is asked for. */
UNWATCHED static void collect(void)
{
        static uint64_t number;
        struct gc_details details = { .generation = 1 };
        uint8_t be[8];

        post(9, NULL, 0, false);
        if (performHeapProfile) {
                performHeapProfile = 0;
                put_be(be, number++, 8);
                post(162, be, 8, false);
                post(165, be, 8, false);
        }
        post(10, NULL, 0, false);
        if (rtsConfig.word[CONFIG_GC_DONE_HOOK])
                ((void (*)(const void *))rtsConfig.word[CONFIG_GC_DONE_HOOK])(&details);
}

static volatile bool stop_working;

UNWATCHED static void *work(void *unused)
{
        for (unsigned i = 0; !stop_working; i++) {
                pthread_mutex_lock(&capability_lock);
                post(19, "working", 7, true);
                if (i % 16 == 0)
                        collect();
                pthread_mutex_unlock(&capability_lock);
                if (!threaded)
                        (void)pace_until_due(); /* as where it waits in select(2): agent/interpose.c */
                usleep(200);
        }
        return NULL;
}

/* hs_main: the runtime's start, a program of some threads, the runtime's end. */
UNWATCHED static void run_program(void (*program)(void))
{
        pthread_t workers[3];
        const unsigned n = threaded ? 3 : 1;

        clock_gettime(CLOCK_MONOTONIC, &began);
        capEventBuf = calloc(1, sizeof(*capEventBuf));
        *capEventBuf = (struct event_buffer){ .begin = calloc(1, EVENT_BUFFER_BYTES), .size = EVENT_BUFFER_BYTES };
        capEventBuf->position = capEventBuf->begin;
        rtsConfig = defaultRtsConfig;
        ((void (*)(void))rtsConfig.word[CONFIG_DEFAULTS_HOOK])();
        pthread_mutex_lock(&capability_lock); /* for TSan: end_init_elapsed, by which the agent knows, is no lock */
        startEventLogging(has("--null") ? &null_writer : rtsConfig.word[CONFIG_WRITER]);
        pthread_mutex_unlock(&capability_lock);
        end_init_elapsed = stat_getElapsedTime() + 1;
        if (threaded) {
                for (unsigned i = 0; i < n; i++)
                        pthread_create(&workers[i], NULL, work, NULL);
                program();
        } else { /* the asking is another thread's, the working the main one's */
                pthread_create(&workers[0], NULL, (void *(*)(void *))program, NULL);
                work(NULL);
        }
        stop_working = true;
        for (unsigned i = 0; i < n; i++)
                pthread_join(workers[i], NULL);
        ((void (*)(void))rtsConfig.word[CONFIG_ON_EXIT_HOOK])();
        eventlog_enabled = false;
        write_block(capEventBuf);
        event_log_writer->write((uint8_t[]){ 0xff, 0xff }, 2);
        event_log_writer->stop();
        rts_shutdown = true;
        if (hp_file)
                fclose(hp_file);
        free(capEventBuf->begin);
        free(capEventBuf);
}

/* --------------------------------------------------------------- the reader */

#define MUST(what)                                                                                                     \
        do {                                                                                                           \
                if (!(what)) {                                                                                         \
                        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                     \
                        _exit(1);                                                                                      \
                }                                                                                                      \
        } while (0)

static char directory[64], path[96];

struct reading {
        int fd;
        uint8_t *bytes;
        size_t size;
};

static struct reading join(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct reading r = { .fd = socket(AF_UNIX, SOCK_STREAM, 0) };

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        MUST(connect(r.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
        return r;
}

/* Reads until it has this text; false at the end. */
static bool read_until(struct reading *r, const char *text)
{
        for (;;) {
                if (text && r->size > 0 && memmem(r->bytes, r->size, text, strlen(text)))
                        return true;
                r->bytes = realloc(r->bytes, r->size + 65536);
                ssize_t n = recv(r->fd, r->bytes + r->size, 65536, 0);
                if (n <= 0)
                        return false;
                r->size += (size_t)n;
        }
}

static void ask(struct reading *r, unsigned id, const char *request, const char *answer)
{
        char text[128];
        int n = snprintf(text, sizeof(text), "%u %s\n", id, request);

        MUST(send(r->fd, text, (size_t)n, MSG_NOSIGNAL) == n);
        snprintf(text, sizeof(text), AGENT_SAYS "answer %u %s", id, answer);
        MUST(read_until(r, text));
}

/* A census that was read from outside; its events, or other bytes. */
static void give(struct reading *r, unsigned id, const void *bytes, size_t n)
{
        char line[64];
        const int size = snprintf(line, sizeof(line), "%u given %zu\n", id, n);

        MUST(send(r->fd, line, (size_t)size, MSG_NOSIGNAL) == size);
        MUST(send(r->fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static const uint8_t outside[] =
        "\0\xa2"
        "\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0"
        "\0\xa4"
        "\0\0\0\0\0\0\0\0"
        "\0\x14"
        "\0"
        "\0\0\0\0\0\0\0\x7b"
        "Given.Band\0"
        "\0\xa5"
        "\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0";

/* It is in the log, of the time of its block, with the number that tells it from the runtime's. */
static void check_given(const struct reading *r)
{
        const uint8_t *name = memmem(r->bytes, r->size, "Given.Band", 11),
                      *marker = name - 21 - 18 - BLOCK_MARKER_BYTES;

        MUST(be16(marker) == BLOCK_MARKER && be32(marker + 10) == BLOCK_MARKER_BYTES + sizeof(outside));
        MUST(be64(marker + 2) > 0 && be64(marker + 2) == be64(marker + BLOCK_MARKER_BYTES + 2));
        MUST(be64(marker + BLOCK_MARKER_BYTES + 10) == OUTSIDE_CENSUS && be64(name - 8) == 123);
}

static void leave(struct reading *r)
{
        close(r->fd);
        free(r->bytes);
}

static unsigned logs_of(const struct reading *r)
{
        static const char header[] = "hdrbhetb";
        const uint8_t *at = r->bytes, *end = at + r->size;
        unsigned n = 0;

        for (; (at = memmem(at, (size_t)(end - at), header, sizeof(header) - 1)); at++)
                n++;
        return n;
}

static void until_the_profile(struct reading *r)
{
        unsigned id = 100;

        for (bool on = false; !on; id++) {
                ask(r, id, "status", "ok");
                on = memmem(r->bytes, r->size, "heap=T", 6) != NULL;
        }
}

static struct reading first;

static void program_with_the_nonmoving_collector(void)
{
        first = join();
        MUST(read_until(&first, AGENT_SAYS "no heap profile: the program's collector"));
        ask(&first, 1, "heap T", "no no heap profile: the program's collector");
        ask(&first, 2, "census", "no there is no heap profile");
        ask(&first, 3, "status", "ok");
        stop_working = true;
}

/* It has an eventlog, which is written nowhere: there is nothing to serve. */
static void program_that_logs_nowhere(void)
{
        MUST(eventlog_enabled && !a.begun && access(path, F_OK) != 0);
}

/* Requests of every kind, while others come and go, do not read, and children are forked. */
UNWATCHED static void program(void)
{
        struct reading stuck, other, watcher;

        first = join();
        MUST(read_until(&first, "datb"));
        stuck = join();
        until_the_profile(&first);
        ask(&first, 1, "census", "ok");
        ask(&first, 2, "interval 0.05", "ok");
        ask(&first, 3, "flush 0.01", "ok");
        ask(&first, 4, "budget 50", "ok");
        give(&first, 20, outside, sizeof(outside));
        MUST(read_until(&first, "Given.Band"));
        check_given(&first);
        while (!heapwatch_agent_accepts_censuses) /* an interval later */
                usleep(1000);
        ask(&first, 21, "status", "ok");
        MUST(read_until(&first, " given=1 "));
        give(&first, 22, "hello", 5);
        MUST(read_until(&first, AGENT_SAYS "answer 22 no what was given is not one census: byte 0 of 5"));
        ask(&first, 15, "max-pause 0.000000001", "ok"); /* the stand-in makes a census in 300 ns */
        ask(&first, 16, "census", "no ");               /* that long, or unknown as long as no census was measured */
        ask(&first, 17, "max-pause 0", "ok");
        ask(&first, 5, "classes gus", "ok");
        ask(&first, 6, "heap none", "ok");
        ask(&first, 7, "census", "no there is no heap profile");
        give(&first, 23, outside, sizeof(outside));
        MUST(read_until(&first, AGENT_SAYS "answer 23 no there is no heap profile by closure type"));
        MUST(heapwatch_agent_accepts_censuses == 0);
        ask(&first, 8, "heap T", "ok");
        for (unsigned i = 0; i < 5; i++) {
                other = join();
                MUST(read_until(&other, "datb"));
                leave(&other);
                pid_t child = threaded ? fork() : 0; /* only a program's own thread forks */
                if (child == 0 && threaded)
                        _exit(a.child ? 0 : 1);
                int status = 0;
                MUST(!threaded || (waitpid(child, &status, 0) == child && status == 0));
        }
        watcher = join();
        MUST(read_until(&watcher, "datb"));
        FileEventLogWriter.flush();
        MUST(FileEventLogWriter.write == writer.write);
        ask(&first, 13, "classes gu", "ok");
        ask(&first, 14, "status", "ok");
        MUST(read_until(&first, "classes=gu "));
        ask(&first, 9, "stop", "ok");
        MUST(FileEventLogWriter.write == file_write);
        ask(&first, 10, "status", "ok");
        ask(&first, 11, "start", "ok");
        ask(&first, 12, "nonsense", "no");
        MUST(read_until(&watcher, AGENT_SAYS "answer 12 no") && logs_of(&watcher) == 2); /* it asks nothing */
        leave(&watcher);
        leave(&stuck);
        stop_working = true;
}

/* It writes a log itself when it is attached to, and detached from, again and again. */
UNWATCHED static void program_with_a_log(void)
{
        char settings[256], said[256];

        snprintf(settings, sizeof(settings), "socket=%s;flush=0.02;interval=0.05", path);
        pthread_mutex_lock(&capability_lock); /* the thread that is borrowed does no work */
        MUST(heapwatch_agent_attach(settings, said, sizeof(said)) == AGENT_BEGUN && !strcmp(said, path));
        pthread_mutex_unlock(&capability_lock);
        first = join();
        MUST(read_until(&first, "datb"));
        until_the_profile(&first);
        for (unsigned i = 0; i < 5; i++) {
                ask(&first, 3 * i + 1, "census", "ok");
                ask(&first, 3 * i + 2, "stop", "ok");
                MUST(FileEventLogWriter.write == file_write);
                ask(&first, 3 * i + 3, "start", "ok");
                MUST(FileEventLogWriter.write == writer.write);
        }
        until_the_profile(&first);
        stop_working = true;
}

static void *drain(void *unused)
{
        while (read_until(&first, NULL))
                ;
        return NULL;
}

static void set_up(void)
{
        char settings[256];

        snprintf(settings, sizeof(settings), "socket=%s;flush=0.02;interval=0.05;queue=0.0625", path);
        setenv(AGENT_VARIABLE, settings, 1);
        agent_begin();
        MUST(a.on && !getenv(AGENT_VARIABLE) && access(path, F_OK) == 0);
        setenv("GHCRTS", program_options, 1);
}

static void whole_life(void)
{
        set_up();
        run_program(has("-xn") ? program_with_the_nonmoving_collector : program);
        drain(NULL);
        MUST(first.size > 2 && first.bytes[first.size - 1] == 0xff);
        MUST(has("-xn") || memmem(first.bytes, first.size, "\0\xa2", 2));
        leave(&first);
        MUST(access(path, F_OK) != 0); /* nothing is left */
        exit(0);
}

/* The whole of its own log: one header, and the end. */
static struct reading own_bytes(void)
{
        struct reading r = { .fd = own_log };
        struct stat st;

        MUST(fstat(own_log, &st) == 0);
        r.size = (size_t)st.st_size;
        r.bytes = malloc(r.size);
        MUST(pread(own_log, r.bytes, r.size, 0) == st.st_size);
        return r;
}

static void attached_life(void)
{
        char name[128];

        snprintf(name, sizeof(name), "%s/own.eventlog", directory);
        own_log = open(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0600);
        MUST(own_log >= 0 && unlink(name) == 0);
        run_program(program_with_a_log);
        drain(NULL);
        /* Its own, from each start; and one of a message for each answer to `stop`. */
        MUST(logs_of(&first) == 6 + 5 && first.bytes[first.size - 1] == 0xff);
        leave(&first);
        first = own_bytes();
        MUST(logs_of(&first) == 1 && first.bytes[first.size - 1] == 0xff &&
             memmem(first.bytes, first.size, "\0\xa2", 2));
        leave(&first);
        MUST(access(path, F_OK) != 0);
        exit(0);
}

static void unwatched_life(void)
{
        set_up();
        run_program(program_that_logs_nowhere);
        exit(0);
}

#define LIVES 4 /* each meets other moments */

static int in_child(void (*act)(void))
{
        int status = 0;
        pid_t pid = fork();

        if (pid == 0) {
                alarm(300);
                act();
        }
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(test_a_threaded_runtime)
{
        threaded = 1;
        for (int i = 0; i < LIVES; i++)
                assert_int_equal(in_child(whole_life), 0);
}

TEST(test_one_that_is_not)
{
        threaded = 0;
        for (int i = 0; i < LIVES; i++)
                assert_int_equal(in_child(whole_life), 0);
}

TEST(test_attached_to_a_log_of_its_own)
{
        for (threaded = 0; threaded < 2; threaded++)
                for (int i = 0; i < LIVES; i++)
                        assert_int_equal(in_child(attached_life), 0);
}

TEST(test_nothing_is_stopped_for_a_refusal)
{
        threaded = 1;
        program_options = "-xn";
        assert_int_equal(in_child(whole_life), 0);
        program_options = "";
}

TEST(test_a_log_that_is_written_nowhere)
{
        threaded = 1;
        program_options = "-l --null-eventlog-writer";
        assert_int_equal(in_child(unwatched_life), 0);
        program_options = "";
}

/* A lock that the runtime still has is left to it; one that it destroyed lets nobody through any more. */
TEST(test_threads_that_leave_late)
{
        pthread_mutex_t tasks = PTHREAD_MUTEX_INITIALIZER;

        rts.all_tasks_mutex = (struct rts_symbol){ &tasks, sizeof(tasks) };
        runtime_hold_leaving_threads();
        assert_int_equal(pthread_mutex_trylock(&tasks), 0);
        assert_int_equal(pthread_mutex_unlock(&tasks), 0);
        assert_int_equal(pthread_mutex_destroy(&tasks), 0);
        for (int piece = 0; piece < 2; piece++) {
                runtime_hold_leaving_threads();
                assert_int_equal(pthread_mutex_trylock(&tasks), EBUSY);
        }
        rts.all_tasks_mutex = (struct rts_symbol){ NULL, 0 };
}

/* Blocks that a forked child has begun by the time since the boot begin by its own. */
TEST(test_the_clock_of_a_forked_child)
{
        int64_t start_init_elapsed = 0;
        struct event_buffer buffer = { .begin = calloc(1, EVENT_BUFFER_BYTES), .size = EVENT_BUFFER_BYTES };

        rts.start_init_elapsed = (struct rts_symbol){ &start_init_elapsed, sizeof(start_init_elapsed) };
        began = (struct timespec){ 0 };
        end_init_elapsed = 0;
        capEventBuf = &buffer;
        open_block(capEventBuf);
        runtime_correct_clock_of_child();
        assert_true(start_init_elapsed > 0 && end_init_elapsed == start_init_elapsed);
        assert_true(be64(buffer.marker + 2) <= (uint64_t)(stat_getElapsedTime() - start_init_elapsed));
        assert_int_equal(be16(buffer.marker), BLOCK_MARKER);
        assert_ptr_equal(buffer.position, buffer.begin + BLOCK_MARKER_BYTES);
        rts.start_init_elapsed = (struct rts_symbol){ NULL, 0 };
        end_init_elapsed = 0;
        capEventBuf = NULL;
        free(buffer.begin);
}

static int make_directory(void **state)
{
        snprintf(directory, sizeof(directory), "/tmp/hw-agent-XXXXXX");
        if (!mkdtemp(directory))
                return -1;
        snprintf(path, sizeof(path), "%s/agent", directory);
        return 0;
}

static int remove_directory(void **state)
{
        return rmdir(directory);
}

/* Before the agent's own constructor: in the tests' process it does nothing. */
__attribute__((constructor(101))) static void stay_out(void)
{
        setenv(AGENT_VARIABLE, "off=1", 1);
}

TEST_GROUP(make_directory, remove_directory)
