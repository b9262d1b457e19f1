/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in runtime writes; readers come early, late, slowly, and go. Also the preamble and the meter alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/preamble.h"
#include "agent/queue.h"
#include "agent/server.h"
#include "agent/thread.h"
#include "agent/writer.h"
#include "proto/base/bytes.h"

#define DEADLINE_NS INT64_C(60000000000)

/* ------------------------------------------------------------------ a log */

static const uint8_t header[] =
        "hdrbhetb"
        "etb\0\0\x09\0\0\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x0a\0\0\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x10\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x12\0\x0e\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x13\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x2c\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\x2d\0\x02\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\xa2\0\x08\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\xa9\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "hetehdredatb";

struct block {
        uint8_t bytes[65600];
        size_t size;
};

static void block_begin(struct block *b, uint16_t capability, uint64_t at_ns)
{
        put_be(b->bytes, 18, 2);
        put_be(b->bytes + 2, at_ns, 8);
        put_be(b->bytes + 22, capability, 2);
        b->size = 24;
}

static void block_event(struct block *b, uint16_t type, uint64_t at_ns, const void *payload, size_t n, bool variable)
{
        uint8_t *at = b->bytes + b->size;

        put_be(at, type, 2);
        put_be(at + 2, at_ns, 8);
        at += 10;
        if (variable) {
                put_be(at, n, 2);
                at += 2;
        }
        if (n > 0)
                memcpy(at, payload, n);
        b->size = (size_t)(at + n - b->bytes);
}

static void block_end(struct block *b, uint64_t at_ns)
{
        put_be(b->bytes + 10, b->size, 4);
        put_be(b->bytes + 14, at_ns, 8);
}

/* A capability is created, and a user message says `text`. */
static struct block *some_block(uint16_t capability, const char *text)
{
        static struct block b;
        uint8_t number[2];

        put_be(number, capability, 2);
        block_begin(&b, capability, 100);
        block_event(&b, 45, 110, number, 2, false);
        block_event(&b, 19, 120, text, strlen(text), true);
        block_end(&b, 200);
        return &b;
}

/* ------------------------------------------------------------------ preamble */

static struct preamble *fresh(void)
{
        struct preamble *p = calloc(1, sizeof(*p));

        preamble_reset(p);
        preamble_add(p, header, sizeof(header) - 1);
        assert_non_null(p->header);
        return p;
}

static void drop(struct preamble *p)
{
        preamble_reset(p);
        free(p);
}

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
        return memmem(bytes, size, text, strlen(text)) != NULL;
}

TEST(test_definitions_are_kept_messages_are_not)
{
        struct preamble *p = fresh();
        struct block *b = some_block(3, "hello");

        preamble_add(p, b->bytes, b->size);
        struct chunk *c = preamble_chunk(p);
        assert_int_equal(p->not_understood, 0);
        assert_int_equal(c->size, sizeof(header) - 1 + 24 + 12);
        assert_memory_equal(c->bytes, header, sizeof(header) - 1);
        assert_false(holds(c->bytes, c->size, "hello"));
        assert_int_equal(be16(c->bytes + sizeof(header) - 1 + 22), 3);       /* of the same capability */
        assert_int_equal(be32(c->bytes + sizeof(header) - 1 + 10), 24 + 12); /* a whole block */
        chunk_release(c);
        drop(p);
}

/* Definitions that come after later events of other buffers: each block's times are those of its events. */
TEST(test_times_of_a_block_hold_its_events)
{
        struct preamble *p = fresh();
        struct block later;

        block_begin(&later, 3, 700);
        block_event(&later, 45, 800, "\0\3", 2, false);
        block_end(&later, 900);
        preamble_add(p, later.bytes, later.size);
        struct block *b = some_block(0, "hello"); /* at 110 */
        preamble_add(p, b->bytes, b->size);
        struct chunk *c = preamble_chunk(p);
        const uint8_t *first = c->bytes + sizeof(header) - 1, *second = first + 24 + 12;
        assert_true(be64(first + 2) == 800 && be64(first + 14) == 800);
        assert_true(be64(second + 2) == 110 && be64(second + 14) == 110);
        chunk_release(c);
        drop(p);
}

TEST(test_every_cut_of_a_block_is_survived)
{
        struct block *b = some_block(0, "something longer");

        for (size_t n = 0; n < b->size; n++) {
                struct preamble *p = fresh();
                uint8_t *cut = malloc(n ? n : 1);
                memcpy(cut, b->bytes, n);
                preamble_add(p, cut, n);
                free(cut);
                drop(p);
        }
        for (size_t n = 0; n < sizeof(header); n++) {
                struct preamble *p = calloc(1, sizeof(*p));
                uint8_t *cut = malloc(n ? n : 1);
                memcpy(cut, header, n);
                preamble_add(p, cut, n);
                assert_true(n == sizeof(header) - 1 || !p->header);
                free(cut);
                drop(p);
        }
}

TEST(test_an_info_table_ends_with_its_sixth_string)
{
        struct preamble *p = fresh();
        static const char table[] = "\0\0\0\0\0\0\0\1a\0b\0c\0d\0e\0f"; /* its own last NUL ends it */
        struct block b;

        block_begin(&b, NO_CAPABILITY, 1);
        block_event(&b, 169, 2, table, sizeof(table), true);
        put_be(b.bytes + 24 + 10, sizeof(table) + 1, 2); /* the runtime announces one byte too many */
        block_event(&b, 45, 3, "\0\7", 2, false);
        block_end(&b, 4);
        preamble_add(p, b.bytes, b.size);
        assert_int_equal(p->not_understood, 0);
        assert_int_equal(p->bytes, 12 + sizeof(table) + 12);
        drop(p);
}

/* Of another buffer it would hold up a reader that waits until all that it has seen have been flushed again. */
TEST(test_a_message_is_of_a_buffer_that_goes_on)
{
        struct preamble *p = fresh();
        struct block *b = some_block(0, "something");

        preamble_add(p, b->bytes, b->size);
        struct chunk *c = preamble_message(p, "ours", 4);
        assert_int_equal(be16(c->bytes + 22), 0);
        assert_true(be64(c->bytes + 14) == be64(b->bytes + 14) && be64(b->bytes + 14) > 0);
        chunk_release(c);
        drop(p);
}

TEST(test_labels_do_not_grow_for_ever)
{
        struct preamble *p = fresh();
        char label[1000];

        memset(label, 'x', sizeof(label));
        for (unsigned i = 0; i < 1000; i++) {
                struct block b;
                put_be((uint8_t *)label, i, 4);
                block_begin(&b, 0, i);
                block_event(&b, 44, i, label, sizeof(label), true);
                block_end(&b, i);
                preamble_add(p, b.bytes, b.size);
        }
        assert_true(p->bytes <= AGENT_LABELS_BYTES && p->bytes > AGENT_LABELS_BYTES / 3);
        assert_true(p->left_out > 0);
        struct chunk *c = preamble_chunk(p);
        assert_int_equal(be32(c->bytes + c->size - sizeof(label)), 999); /* the newest is there */
        chunk_release(c);
        drop(p);
}

TEST(test_a_census_costs_the_pause_around_it)
{
        struct meter *m = calloc(1, sizeof(*m));

        meter_gc_begin(m, 0, 100);
        meter_gc_end(m, 0, 150);
        assert_int_equal(m->known, 0);
        meter_census(m, 1010); /* before its collection is known */
        meter_gc_begin(m, 1, 1000);
        meter_gc_end(m, 1, 1500);
        assert_int_equal(m->pause_ns, 500);
        meter_gc_begin(m, 0, 2000);
        meter_gc_end(m, 0, 2700);
        meter_census(m, 2600); /* and after */
        assert_int_equal(m->pause_ns, 700);
        assert_int_equal(m->known, 2);
        meter_gc_end(m, 5, 9000);                   /* never begun */
        meter_gc_begin(m, AGENT_CAPABILITIES, 100); /* too many */
        meter_gc_end(m, AGENT_CAPABILITIES, 100);
        assert_int_equal(m->known, 2);
        meter_live(m, 12345);
        assert_int_equal(m->live_bytes, 12345);
        assert_int_equal(m->lives, 1);
        free(m);
}

/* -------------------------------------------------------------------- server */

/* Each test of the server is a process of its own, as each program has one agent. */
static int in_child(void (*test)(const char *path))
{
        char directory[] = "/tmp/hw-agent-XXXXXX", path[64];
        int status;

        assert_non_null(mkdtemp(directory));
        snprintf(path, sizeof(path), "%s/s", directory);
        pid_t pid = fork();
        if (pid == 0) {
                test(path);
                _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_not_equal(access(path, F_OK), 0); /* nothing is left behind */
        assert_int_equal(rmdir(directory), 0);
        return status;
}

/* In the child there is no cmocka: the line's number is the exit status. */
#define MUST(condition)                                                                                                \
        do {                                                                                                           \
                if (!(condition)) {                                                                                    \
                        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
                        _exit(1);                                                                                      \
                }                                                                                                      \
        } while (0)

static void begin(const char *path, size_t queue_bytes)
{
        struct agent_settings s;
        struct error error;

        settings_default(&s);
        snprintf(s.socket, sizeof(s.socket), "%s", path);
        s.queue_bytes = queue_bytes;
        s.await_ns = DEADLINE_NS;
        s.linger_ns = DEADLINE_NS;
        queue_open(queue_bytes);
        MUST(server_open(&s, &error));
        MUST(server_start() == 0);
        writer.init();
        writer.write((void *)(uintptr_t)header, sizeof(header) - 1);
}

/* -1: nobody listens there. */
static int try_reader(const char *path)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
        if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
                return fd;
        (void)close(fd);
        return -1;
}

static int reader(const char *path)
{
        const int fd = try_reader(path);

        MUST(fd >= 0);
        return fd;
}

struct text {
        uint8_t *bytes;
        size_t size;
};

/* Reads until `word` has come, or to the end when it is NULL. */
static void read_to(int fd, struct text *t, const char *word)
{
        int64_t end = thread_now_ns() + DEADLINE_NS;

        while (!word || !t->size || !holds(t->bytes, t->size, word)) {
                t->bytes = realloc(t->bytes, t->size + 65536);
                ssize_t n = recv(fd, t->bytes + t->size, 65536, 0);
                if (n <= 0 && !word)
                        return;
                MUST(n > 0 && thread_now_ns() < end);
                t->size += (size_t)n;
        }
}

static void say(uint16_t capability, const char *text)
{
        struct block *b = some_block(capability, text);

        (void)writer.write(b->bytes, b->size);
}

static void end_log(void)
{
        uint8_t end[2] = { 0xff, 0xff };

        (void)writer.write(end, sizeof(end));
        server_finish();
}

static void early_and_late(const char *path)
{
        struct text first = { NULL, 0 }, second = { NULL, 0 };
        struct stat st;

        begin(path, 1 << 20);
        MUST(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        say(0, "before anybody came");
        int a = reader(path);
        read_to(a, &first, "before anybody came");
        MUST(first.size >= sizeof(header) - 1 && !memcmp(first.bytes, header, sizeof(header) - 1));
        say(0, "only the first");
        read_to(a, &first, "only the first");
        int b = reader(path);
        read_to(b, &second, "datb");
        say(1, "for both");
        read_to(a, &first, "for both");
        read_to(b, &second, "for both");
        MUST(!memcmp(second.bytes, header, sizeof(header) - 1));
        MUST(!holds(second.bytes, second.size, "only the first"));
        (void)close(a); /* one goes, the other reads on */
        say(1, "the last");
        end_log();
        read_to(b, &second, NULL);
        MUST(holds(second.bytes, second.size, "the last"));
        MUST(second.bytes[second.size - 1] == 0xff && second.bytes[second.size - 2] == 0xff);
        free(first.bytes);
        free(second.bytes);
}

TEST(test_early_and_late_readers)
{
        assert_int_equal(in_child(early_and_late), 0);
}

/* Never waits for a reader that does not read; drops whole blocks and reports them. */
static void slow(const char *path)
{
        struct text t = { NULL, 0 };
        char *big = malloc(60001);

        begin(path, 1 << 20);
        memset(big, 'x', 60000);
        big[60000] = '\0';
        int fd = reader(path);
        read_to(fd, &t, "datb");
        for (unsigned i = 0; i < 200; i++)
                say(0, big);
        while (server_facts().left_out_bytes == 0 && queue_losses().blocks == 0)
                say(0, big);
        int64_t until = thread_now_ns() + 50000000; /* it takes what is in the queue */
        while (thread_now_ns() < until)
                ;
        say(1, "seen again");
        /* Room comes with reading; the next message reports the number of blocks dropped. */
        for (int64_t end = thread_now_ns() + DEADLINE_NS; !holds(t.bytes, t.size, "left out");) {
                MUST(thread_now_ns() < end);
                t.bytes = realloc(t.bytes, t.size + 65536);
                ssize_t n = recv(fd, t.bytes + t.size, 65536, MSG_DONTWAIT);
                if (n > 0)
                        t.size += (size_t)n;
                else
                        say(1, "more");
        }
        /* All of it is whole blocks. */
        size_t at = sizeof(header) - 1;
        while (at + 24 <= t.size) {
                MUST(be16(t.bytes + at) == 18);
                at += be32(t.bytes + at + 10);
        }
        (void)close(fd);
        end_log();
        free(t.bytes);
        free(big);
}

TEST(test_a_slow_reader_costs_whole_blocks)
{
        assert_int_equal(in_child(slow), 0);
}

/* A program closes what it does not know and opens files there: none of our bytes may get into them. */
static void closed(const char *path)
{
        char name[128];
        int files[64];

        begin(path, 1 << 20);
        int fd = reader(path);
        struct text t = { NULL, 0 };
        read_to(fd, &t, "datb");
        snprintf(name, sizeof(name), "%s.file", path);
        for (int i = AGENT_FD_FROM; i < AGENT_FD_FROM + 64; i++)
                (void)close(i);
        for (int i = 0; i < 64; i++) {
                files[i] = open(name, O_RDWR | O_CREAT | O_APPEND, 0600);
                MUST(files[i] >= 0);
                (void)dup2(files[i], AGENT_FD_FROM + i);
        }
        say(0, "into nowhere");
        struct stat st;
        int64_t until = thread_now_ns() + 300000000; /* three looks of the server */
        while (thread_now_ns() < until)
                MUST(fstat(files[0], &st) == 0 && st.st_size == 0);
        /* Its socket is made again, beside the program's files: who comes now reads on. */
        struct text again = { NULL, 0 };
        while ((fd = try_reader(path)) < 0)
                MUST(thread_now_ns() < until + DEADLINE_NS);
        read_to(fd, &again, "datb");
        say(0, "seen again");
        read_to(fd, &again, "seen again");
        MUST(!memcmp(again.bytes, header, sizeof(header) - 1));
        MUST(fstat(files[0], &st) == 0 && st.st_size == 0);
        free(again.bytes);
        end_log();
        MUST(fstat(AGENT_FD_FROM, &st) == 0); /* nor are they closed */
        MUST(unlink(name) == 0);
        free(t.bytes);
}

TEST(test_descriptors_taken_away_are_left_alone_and_made_again)
{
        assert_int_equal(in_child(closed), 0);
}

/* As another process sees it. */
static bool is_locked(const char *path)
{
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
                int fd = open(path, O_RDWR);
                _exit(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
        }
        MUST(waitpid(pid, &status, 0) == pid);
        return status == 0;
}

static void refusals(const char *path)
{
        struct agent_settings s;
        struct error error;
        char other[128], beside[160];

        settings_default(&s);
        snprintf(s.socket, sizeof(s.socket), "%s", path);
        queue_open(1 << 20);
        /* A socket that nobody listens on any more is replaced. */
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        MUST(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
        (void)close(fd);
        MUST(server_open(&s, &error));
        server_abandon();
        /* One on which somebody listens is not. */
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        MUST(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0);
        MUST(!server_open(&s, &error));
        MUST(access(path, F_OK) == 0);
        (void)close(fd);
        MUST(unlink(path) == 0);
        /* What is no socket stays, whatever it is: a file, a FIFO, a link to either or to nothing. */
        snprintf(beside, sizeof(beside), "%s-file", path);
        MUST(close(open(beside, O_WRONLY | O_CREAT, 0600)) == 0);
        for (int kind = 0; kind < 4; kind++) {
                struct stat before, after;
                MUST((kind == 0   ? close(open(path, O_WRONLY | O_CREAT, 0600))
                      : kind == 1 ? mkfifo(path, 0600)
                                  : symlink(kind == 2 ? beside : "/nowhere", path)) == 0);
                MUST(lstat(path, &before) == 0);
                MUST(!server_open(&s, &error) && strstr(error.text, "is not a socket of yours: it is left as it is"));
                MUST(lstat(path, &after) == 0 && after.st_ino == before.st_ino && unlink(path) == 0);
        }
        MUST(access(beside, F_OK) == 0 && unlink(beside) == 0);
        /* With few open files allowed the program keeps them all. */
        struct rlimit files = { AGENT_OPEN_FILES - 1, AGENT_OPEN_FILES },
                      enough = { AGENT_OPEN_FILES, AGENT_OPEN_FILES };
        MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
        MUST(!server_open(&s, &error) && strstr(error.text, "its limit of open files is 63"));
        MUST(access(path, F_OK) < 0 && setrlimit(RLIMIT_NOFILE, &enough) == 0);
        /* One that may not write files is not ended by ours. */
        struct rlimit size;
        MUST(getrlimit(RLIMIT_FSIZE, &size) == 0);
        MUST(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, size.rlim_max }) == 0);
        MUST(!server_open(&s, &error) && strstr(error.text, "may not write to any file"));
        MUST(access(path, F_OK) < 0 && setrlimit(RLIMIT_FSIZE, &size) == 0);
        /* Once means once, even after the first is gone. */
        s.once = true;
        MUST(server_open(&s, &error));
        snprintf(other, sizeof(other), "%s.pid", path);
        MUST(access(other, F_OK) == 0);
        MUST(is_locked(other));
        error.text[0] = 'x';
        MUST(!server_open(&s, &error) && error.text[0] == '\0'); /* nothing to say */
        s.follow = true;
        MUST(server_open(&s, &error));
        snprintf(beside, sizeof(beside), "%s-%ld", path, (long)getpid());
        MUST(!strcmp(server_path(), beside) && access(beside, F_OK) == 0 && unlink(beside) == 0);
        s.follow = false;
        MUST(unlink(other) == 0 && unlink(path) == 0);
        /* A directory that is not there, as in a chroot, and one that others may write to are refused. */
        snprintf(s.socket, sizeof(s.socket), "/nowhere/hw/agent");
        MUST(!server_open(&s, &error) && strstr(error.text, "the directory /nowhere/hw") &&
             strstr(error.text, "does not exist in the file system"));
        snprintf(s.socket, sizeof(s.socket), "/tmp/hw-agent-refused");
        MUST(!server_open(&s, &error) && strstr(error.text, "belongs to you"));
        /* The default one cannot be made. */
        s.socket[0] = '\0';
        MUST(setenv("HEAPWATCH_DIR", "/proc/hw-agent", 1) == 0);
        MUST(!server_open(&s, &error) && strstr(error.text, "/proc/hw-agent cannot be made"));
        _exit(0);
}

TEST(test_paths_that_are_refused)
{
        assert_int_equal(in_child(refusals), 0);
}

/* What is bound to the socket of this process; its descriptor. */
static int bind_name(const char *directory, long pid, bool old)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        const struct timespec times[2] = { { 0, 0 }, { 0, 0 } };
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        snprintf(a.sun_path, sizeof(a.sun_path), "%s/agent-%ld.sock", directory, pid);
        (void)unlink(a.sun_path);
        MUST(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
        MUST(!old || utimensat(AT_FDCWD, a.sun_path, times, 0) == 0);
        return fd;
}

static bool has_name(const char *directory, long pid)
{
        char name[160];

        snprintf(name, sizeof(name), "%s/agent-%ld.sock", directory, pid);
        return unlink(name) == 0;
}

/* Above the numbers that a process can have: nobody's. Those of before go, others stay. */
#define GONE INT32_MAX

static void left_by_others(const char *path)
{
        struct agent_settings s;
        struct error error;
        char directory[128], file[160];

        settings_default(&s);
        snprintf(s.socket, sizeof(s.socket), "%s", path);
        snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
        snprintf(file, sizeof(file), "%s/agent-%d.sock", directory, GONE - 4);
        queue_open(1 << 20);
        (void)close(bind_name(directory, GONE, true));
        int listener = bind_name(directory, GONE - 1, true);
        MUST(listen(listener, 1) == 0);
        (void)close(bind_name(directory, GONE - 2, false));
        (void)close(bind_name(directory, getppid(), true));
        (void)close(open(file, O_CREAT | O_WRONLY, 0600));
        MUST(server_open(&s, &error));
        MUST(!has_name(directory, GONE));
        MUST(has_name(directory, GONE - 1));  /* somebody listens: in another namespace it is in use */
        MUST(has_name(directory, GONE - 2));  /* it has only just been made */
        MUST(has_name(directory, getppid())); /* there is such a process */
        MUST(has_name(directory, GONE - 4));  /* no socket */
        server_abandon();
        _exit(0);
}

TEST(test_names_that_others_have_left_are_removed)
{
        assert_int_equal(in_child(left_by_others), 0);
}

static void messages(const char *path)
{
        struct text t = { NULL, 0 };

        begin(path, 1 << 20);
        int fd = reader(path);
        MUST(send(fd, "5 nonsense\n6 ce", 15, 0) == 15);
        read_to(fd, &t, "answer 5 no no such request");
        MUST(send(fd, "nsus\n", 5, 0) == 5); /* nobody handles requests here */
        read_to(fd, &t, "answer 6 no busy");
        char flood[1024];
        memset(flood, 'x', sizeof(flood)); /* a line that does not end */
        MUST(send(fd, flood, sizeof(flood), 0) == sizeof(flood));
        read_to(fd, &t, NULL);
        end_log();
        free(t.bytes);
}

TEST(test_requests_are_answered_in_the_stream)
{
        assert_int_equal(in_child(messages), 0);
}
