/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_session.c - whole sessions of a live daemon: bytes of sources, requests and faults, interleaved as the input
 * says, on the real event loop, with real files, FIFOs and sockets, in virtual time (virtual_time.h).
 *
 * The input is a list of steps: a byte that chooses the step, a byte for it (below 8: which target), and for some steps
 * more. What must hold:
 *   - a healthy target, whose program writes meanwhile, has the same numbers in the end as when nothing else happens,
 *     unless the daemon was out of memory on the way;
 *   - its bytes are read as soon as the loop runs, whatever the others do;
 *   - each request is answered, a slow client's snapshot too;
 *   - every message is one that our own readers accept (no_bus.h);
 *   - no descriptor is left open.
 */
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/watch/alerting/silence_store.h"
#include "daemon/watch/control/notifier.h"
#include "daemon/watch/control/requests.h"
#include "daemon/watch/control/pending.h"
#include "daemon/log.h"
#include "daemon/source/loop/memory.h"
#include "daemon/watch/targets/pipeline.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "tests/fuzz/no_bus.h"
#include "tests/fuzz/virtual_time.h"

#define ENDS         5u
#define LOGS         3u
#define LOG_MOST     20000u /* bytes of a log: a session is short */
#define STEPS_MOST   400u
#define RUNNING_MOST 60u /* seconds of virtual time that steps let pass with the loop running */
#define MS_NS        UINT64_C(1000000)
#define S_NS         UINT64_C(1000000000)

#define CHECK(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition)) {                                                                                    \
                        fprintf(stderr, "fuzz_session: %d: not %s\n", __LINE__, #condition);                           \
                        abort();                                                                                       \
                }                                                                                                      \
        } while (0)

/* ------------------------------------------------- memory that runs out */

static struct {
        unsigned every, count; /* every one of so many is refused; 0: none */
} refusing;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool refused(void)
{
        return refusing.every > 0 && !no_bus_checks && ++refusing.count % refusing.every == 0;
}

void *__wrap_malloc(size_t size)
{
        return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
        return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
        return refused() ? NULL : __real_realloc(p, size);
}

/* ------------------------------------------------------- what programs write */

static const char *const log_paths[LOGS] = {
        "tests/data/logs/cc-hc-ghc966/run.eventlog",
        "tests/data/logs/leaky-nonmoving-ghc9103/run.eventlog",
        "tests/data/logs/parallel-full-ghc9103/run.eventlog",
};

static struct log {
        uint8_t *bytes;
        size_t size;
} logs[LOGS];

static void read_log(struct log *log, const char *path)
{
        FILE *f = fopen(path, "rb");

        if (!f) {
                fprintf(stderr, "fuzz_session: %s: %s; run it where the project's files are\n", path, strerror(errno));
                exit(2);
        }
        log->bytes = malloc(LOG_MOST);
        CHECK(log->bytes);
        log->size = fread(log->bytes, 1, LOG_MOST, f);
        fclose(f);
}

/* ---------------------------------------------- the programs' ends of sources */

static char directory[64]; /* in memory, if it can be */

/* The program's end of target x0, x1 ...: a file, a FIFO, a socket it listens at, one of the daemon's, a file. */
struct end {
        char path[96], uri[128];
        int fd;       /* where it writes; -1: nowhere */
        int listener; /* of x2, or -1 */
        size_t at;    /* in its log */
};

static struct end ends[ENDS];
static struct end healthy;

static void end_path(struct end *e, const char *scheme, const char *name)
{
        (void)snprintf(e->path, sizeof(e->path), "%s/%s", directory, name);
        (void)snprintf(e->uri, sizeof(e->uri), "%s%s/%s", scheme, directory, name);
}

static struct sockaddr_un address_of(const struct end *e)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };

        memcpy(a.sun_path, e->path, strlen(e->path) + 1);
        return a;
}

static void end_shut(struct end *e)
{
        if (e->fd >= 0)
                (void)close(e->fd);
        e->fd = -1;
}

static void end_listen(struct end *e)
{
        struct sockaddr_un a = address_of(e);

        (void)unlink(e->path);
        e->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (e->listener >= 0)
                (void)(bind(e->listener, (struct sockaddr *)&a, sizeof(a)) || listen(e->listener, 4));
}

static int end_connect(const struct end *e)
{
        struct sockaddr_un a = address_of(e);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
                (void)close(fd);
                return -1;
        }
        return fd;
}

/* Somebody connects to the daemon, also while the program is connected, and leaves. */
static void knock(void)
{
        int fd = end_connect(&ends[3]);

        if (fd >= 0)
                (void)close(fd);
}

static void end_open_now(struct end *e)
{
        if (e == &ends[1] || e == &healthy)
                e->fd = open(e->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        else if (e == &ends[2])
                e->fd = accept4(e->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        else if (e == &ends[3])
                e->fd = end_connect(e);
        else
                e->fd = open(e->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* A program is another process: that the daemon has no descriptor left is nothing to it. */
static void end_open(struct end *e)
{
        struct rlimit daemons, all;

        if (e->fd >= 0)
                return;
        CHECK(getrlimit(RLIMIT_NOFILE, &daemons) == 0);
        all = daemons;
        all.rlim_cur = all.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &all) == 0);
        end_open_now(e);
        CHECK(setrlimit(RLIMIT_NOFILE, &daemons) == 0);
}

/* What does not fit is not written: a program whose log lacks a piece. */
static size_t end_write(struct end *e, const void *bytes, size_t n)
{
        end_open(e);
        ssize_t written = e->fd >= 0 ? write(e->fd, bytes, n) : -1;

        if (written < 0 && errno != EAGAIN)
                end_shut(e);
        return written > 0 ? (size_t)written : 0;
}

/* The next bytes of its log, from its start again after its end. */
static void end_write_log(struct end *e, size_t n)
{
        const struct log *log = &logs[(size_t)(e - ends) % LOGS];

        if (e->at >= log->size)
                e->at = 0;
        if (n > log->size - e->at)
                n = log->size - e->at;
        (void)end_write(e, log->bytes + e->at, n);
        e->at += n;
}

/* The program ends, or its file is truncated, removed or replaced. */
static void end_break(struct end *e, unsigned how)
{
        end_shut(e);
        if (how & 1)
                e->at = 0;
        if (e != &ends[0] && e != &ends[4])
                return;
        if (how & 2)
                (void)!truncate(e->path, 0);
        else if (how & 4)
                (void)unlink(e->path);
}

static void ends_begin(void)
{
        static const char *const schemes[ENDS] = { "", "fifo:", "unix:", "unix-listen:", "" };
        char name[8];

        for (unsigned i = 0; i < ENDS; i++) {
                (void)snprintf(name, sizeof(name), "x%u", i);
                end_path(&ends[i], schemes[i], name);
                ends[i].fd = ends[i].listener = -1;
                ends[i].at = 0;
                (void)unlink(ends[i].path);
        }
        end_path(&healthy, "fifo:", "h");
        healthy.fd = healthy.listener = -1;
        healthy.at = 0;
        (void)unlink(healthy.path);
        CHECK(mkfifo(ends[1].path, 0600) == 0 && mkfifo(healthy.path, 0600) == 0);
        end_listen(&ends[2]);
}

static void ends_over(void)
{
        end_shut(&healthy);
        for (unsigned i = 0; i < ENDS; i++)
                end_shut(&ends[i]);
        (void)close(ends[2].listener);
}

/* -------------------------------------------------------------- the daemon */

static struct event_base *base;
static struct rulebook rulebook;
static struct source_allow allow;
static struct requests requests;
static char rules_path[96];
static char *rules_paths[] = { rules_path };

struct session {
        const uint8_t *next;
        size_t left;
        uint64_t running_ns;
        bool short_of_memory; /* at some time: the healthy target may lack bands, too */
        bool new_rules;
        bool leapt; /* clients that read nothing were given up */
        struct rlimit descriptors;
};

static const char few_rules[] = "groups:\n- name: g\n  rules:\n  - {alert: a, expr: live > 1GiB}\n";

/* The file stays open: a session may leave no descriptor. */
static void write_rules(const char *text)
{
        static int fd = -1;
        const size_t n = strlen(text);

        if (fd < 0)
                fd = open(rules_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, text, n, 0) == (ssize_t)n);
}

static void loop_for(uint64_t ns)
{
        struct timeval length = { .tv_sec = (time_t)(ns / S_NS), .tv_usec = (suseconds_t)(ns % S_NS / 1000) };

        CHECK(event_base_loopexit(base, &length) == 0);
        CHECK(event_base_loop(base, 0) == 0);
}

static void request(Hw__Request *r)
{
        struct no_bus_answer answer = { .replies = 0 };
        struct bus_client client = { .answer = &answer };

        requests_handle(&requests, r, &client);
        for (unsigned rounds = 0; !answer.over && rounds < 1000; rounds++)
                loop_for(MS_NS);
        CHECK(answer.replies > 0 && answer.over);
}

/* One client that reads its answers slowly. Each snapshot that it requests ends the one before. */
static struct {
        struct no_bus_answer answers[2];
        unsigned newest, room;
        bool asked, status;
} slow;

/* A snapshot; or, when nothing is under way, the status, which comes before anything else. */
static void slow_asks(unsigned room)
{
        Hw__Request r = HW__REQUEST__INIT;
        Hw__SnapshotRequest all = HW__SNAPSHOT_REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        const bool some = pending_count(requests.pending) > 0;

        if (some && slow.status)
                return;
        slow.asked = true;
        slow.newest ^= 1; /* the one before may still get its error */
        slow.answers[slow.newest] = (struct no_bus_answer){ .replies = 0 };
        slow.room = room;
        slow.status = !some && room % 3 == 0;
        r.what_case = slow.status ? HW__REQUEST__WHAT_STATUS : HW__REQUEST__WHAT_SNAPSHOT;
        if (slow.status)
                r.status = &status;
        else
                r.snapshot = &all;
        requests_handle(&requests, &r, &(struct bus_client){ &slow.answers[slow.newest], &slow.room, false });
}

static void slow_reads(unsigned room)
{
        slow.room = room;
        loop_for(20 * MS_NS);
}

/* Once it reads, it has got all in the end. */
static void slow_has_all(const struct session *s)
{
        const struct no_bus_answer *answer = &slow.answers[slow.newest];

        for (unsigned rounds = 0; pending_count(requests.pending) > 0 && rounds < 1000; rounds++)
                slow_reads(UINT_MAX);
        CHECK(pending_count(requests.pending) == 0);
        CHECK(answer->over || !slow.asked || s->short_of_memory || s->leapt);
        memset(slow.answers, 0, sizeof(slow.answers));
        slow.asked = false;
}

/* `body`: a message of the kind that `what` says. */
static void ask(Hw__Request__WhatCase what, void *body)
{
        Hw__Request r = HW__REQUEST__INIT;

        r.what_case = what;
        memcpy(&r.status, &body, sizeof(body)); /* all members of the union are pointers to messages */
        request(&r);
}

/* Without fields. */
static void ask_plainly(Hw__Request__WhatCase what)
{
        union {
                ProtobufCMessage message;
                uint8_t bytes[256];
        } body;
        const ProtobufCMessageDescriptor *kind =
                protobuf_c_message_descriptor_get_field(&hw__request__descriptor, what)->descriptor;

        CHECK(kind->sizeof_message <= sizeof(body));
        protobuf_c_message_init(kind, &body.message);
        ask(what, &body);
}

static void ask_to_add(const char *name, const char *uri, bool one_run)
{
        Hw__AddTargetRequest add = HW__ADD_TARGET_REQUEST__INIT;

        add.name = (char *)name;
        add.uri = (char *)uri;
        add.has_one_run = add.one_run = one_run;
        ask(HW__REQUEST__WHAT_ADD_TARGET, &add);
}

static void ask_to_remove(const char *name)
{
        Hw__RemoveTargetRequest gone = HW__REMOVE_TARGET_REQUEST__INIT;

        gone.name = (char *)name;
        ask(HW__REQUEST__WHAT_REMOVE_TARGET, &gone);
}

static void ask_to_end(const char *name, unsigned status)
{
        Hw__EndTargetRequest end = HW__END_TARGET_REQUEST__INIT;

        end.name = (char *)name;
        end.has_exit_status = !(status & 1);
        end.has_exit_signal = status & 1;
        end.exit_status = end.exit_signal = status;
        ask(HW__REQUEST__WHAT_END_TARGET, &end);
}

static void ask_history(const char *name, unsigned what)
{
        Hw__HistoryRequest history = HW__HISTORY_REQUEST__INIT;

        history.target = (char *)name;
        history.has_series = !(history.has_band = what & 1);
        history.band = what >> 1;
        history.series = (Hw__Series)(what >> 1);
        ask(HW__REQUEST__WHAT_HISTORY, &history);
}

/* A request as bytes, with two changes: it reaches no other place of the machine, and the healthy target stays. */
static void request_bytes(const uint8_t *bytes, size_t n)
{
        const char *reason = NULL;
        Hw__Request *r = hw_request_unpack(bytes, n, &reason);

        if (!r) {
                CHECK(reason);
                return;
        }
        bool harmless = r->what_case != HW__REQUEST__WHAT_ADD_TARGET;
        if (r->what_case == HW__REQUEST__WHAT_REMOVE_TARGET)
                harmless = r->remove_target->name && strcmp(r->remove_target->name, "h") != 0;
        else if (r->what_case == HW__REQUEST__WHAT_END_TARGET)
                harmless = r->end_target->name && strcmp(r->end_target->name, "h") != 0;
        if (harmless)
                request(r);
        hw_request_destroy(&r);
}

/* --------------------------------------------------------- the healthy target */

struct numbers {
        uint64_t hash;
        uint64_t bytes, events, lost_bytes;
        Hw__Target__State state;
};

static void hash_update(struct numbers *numbers, const Hw__Update *u)
{
        Hw__Update copy = *u;

        copy.has_epoch = copy.has_sequence = copy.has_published_wall_ns = false;
        size_t size = hw__update__get_packed_size(&copy);
        uint8_t *packed = malloc(size + 1);
        CHECK(packed);
        hw__update__pack(&copy, packed);
        for (size_t i = 0; i < size; i++)
                numbers->hash = (numbers->hash ^ packed[i]) * UINT64_C(0x100000001b3);
        free(packed);
}

static bool take_number(void *ctx, const Hw__Update *u)
{
        struct numbers *numbers = ctx;

        if (u->body_case == HW__UPDATE__BODY_HEALTH) {
                numbers->bytes = u->health->bytes;
                numbers->events = u->health->events;
                numbers->lost_bytes = u->health->lost_bytes;
        } else if (u->body_case == HW__UPDATE__BODY_TARGET_STATE) {
                numbers->state = u->target_state->state;
        } else {
                hash_update(numbers, u);
        }
        return true;
}

static struct numbers healthy_numbers(void)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_HEALTH, HW__KIND__KIND_HEAP,
                                          HW__KIND__KIND_GC,     HW__KIND__KIND_CENSUS, HW__KIND__KIND_BAND,
                                          HW__KIND__KIND_NOTE,   HW__KIND__KIND_SCHED,  HW__KIND__KIND_TREND };
        struct numbers numbers = { .hash = UINT64_C(0xcbf29ce484222325) };
        struct pipeline *p = targets_find(requests.targets, "h");
        struct snapshot snapshot = {
                .kinds = kinds, .n_kinds = sizeof(kinds) / sizeof(kinds[0]), .each = take_number, .ctx = &numbers
        };

        CHECK(p);
        (void)pipeline_snapshot(p, &snapshot);
        return numbers;
}

/* All of it, whatever the loop has to do besides. */
static void healthy_write(size_t n)
{
        const struct log *log = &logs[0];

        for (unsigned rounds = 0; n > 0 && healthy.at < log->size; rounds++) {
                size_t rest = log->size - healthy.at;
                size_t written = end_write(&healthy, log->bytes + healthy.at, n < rest ? n : rest);
                healthy.at += written;
                n -= written;
                if (written == 0)
                        loop_for(MS_NS);
                CHECK(rounds < 1000);
        }
}

/* ------------------------------------------------------------------- steps */

static uint8_t take_byte(struct session *s)
{
        if (s->left == 0)
                return 0;
        s->left--;
        return *s->next++;
}

static const uint8_t *take_bytes(struct session *s, size_t *n)
{
        const uint8_t *bytes = s->next;

        if (*n > s->left)
                *n = s->left;
        s->next += *n;
        s->left -= *n;
        return bytes;
}

static size_t open_descriptors(void)
{
        size_t n = 0;
        DIR *d = opendir("/proc/self/fd");

        while (d && readdir(d))
                n++;
        if (d)
                closedir(d);
        return n;
}

/* A fuzzer has threads that open files, too, for a moment. */
static bool has_closed_all(size_t before)
{
        for (unsigned i = 0; i < 100; i++) {
                if (open_descriptors() == before)
                        return true;
                (void)usleep(1000);
        }
        return false;
}

static void step_descriptors(struct session *s, bool none)
{
        struct rlimit limit = s->descriptors;
        const size_t n = open_descriptors();

        if (none && n == 0) /* none is left to count them with */
                return;
        if (none)
                limit.rlim_cur = n;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void step_run(struct session *s, unsigned how)
{
        static const uint64_t lengths_ns[] = { 0, MS_NS, 10 * MS_NS, 100 * MS_NS, S_NS, 3 * S_NS, 5 * S_NS, 10 * S_NS };
        uint64_t ns = lengths_ns[how % 8];

        if (s->running_ns + ns > RUNNING_MOST * S_NS)
                ns = 0;
        s->running_ns += ns;
        loop_for(ns);
        if (ns >= S_NS && !s->short_of_memory)
                CHECK(healthy_numbers().bytes == healthy.at);
}

/* The machine was suspended: time has passed, and nothing was done. */
static void step_leap(struct session *s, unsigned how)
{
        static const uint64_t lengths_s[] = { 1, 60, 3600, 86400, 30 * 86400 };

        virtual_time.now_ns += lengths_s[how % 5] * S_NS;
        s->leapt = true;
}

static void step_reload(struct session *s, unsigned how)
{
        static const char *const rules[] = {
                few_rules,
                "groups:\n- name: g\n  rules:\n"
                "  - {alert: a, expr: \"live > 1MiB\", for: 1s}\n"
                "  - {alert: b, expr: \"slope(band, 10m) > 1KiB/min\"}\n"
                "  - {alert: c, expr: \"absent(live, 10s)\"}\n",
                "groups: [",
        };

        write_rules(rules[how % 3]);
        s->new_rules = true;
        ask_plainly(HW__REQUEST__WHAT_RELOAD);
}

static void step_memory(struct session *s, unsigned how)
{
        s->short_of_memory = true;
        if (how & 1)
                refusing.every = how & 2 ? how | 1 : 0;
        else
                memory_set_budget(how & 2 ? 1 << 20 : UINT64_MAX);
}

static void step_ask(struct session *s, const char *name, unsigned which)
{
        static const Hw__Request__WhatCase all[] = { HW__REQUEST__WHAT_STATUS, HW__REQUEST__WHAT_SNAPSHOT,
                                                     HW__REQUEST__WHAT_SILENCES };

        if (which < 3)
                ask_plainly(all[which]);
        else if (which == 30)
                slow_asks(take_byte(s) % 16);
        else if (which == 31)
                slow_reads(take_byte(s) % 16);
        else
                ask_history(which & 1 ? name : "h", which / 2);
}

static void step(struct session *s)
{
        const unsigned what = take_byte(s), how = take_byte(s), amount = how / 8;
        struct end *e = &ends[how % 8 % ENDS];
        const char *name = strrchr(e->path, '/') + 1;
        size_t n = amount * 8;

        switch (what % 15) {
        case 0:
                ask_to_add(name, e->uri, amount & 1);
                break;
        case 1:
                end_write_log(e, (size_t)amount * amount * 16);
                break;
        case 2:
                healthy_write((size_t)how * 64);
                break;
        case 3:
                step_run(s, how);
                break;
        case 4:
                (void)end_write(e, take_bytes(s, &n), n);
                break;
        case 5:
                e->at += amount;
                knock();
                break;
        case 6:
                end_break(e, amount);
                break;
        case 7:
                ask_to_remove(name);
                break;
        case 8:
                ask_to_end(name, amount);
                break;
        case 9:
                step_ask(s, name, amount);
                break;
        case 10:
                n = how;
                request_bytes(take_bytes(s, &n), n);
                break;
        case 11:
                step_leap(s, how);
                break;
        case 12:
                step_descriptors(s, how & 1);
                break;
        case 13:
                step_memory(s, how);
                break;
        default:
                step_reload(s, how);
        }
}

/* ----------------------------------------------------------------- a session */

static void session_begin(struct session *s)
{
        const struct targets_options options = { .rules = rulebook.rules,
                                                 .trend = tracker_config_scaled(TREND_MINUTE_NS),
                                                 .keep = { .most = 8, .for_ns = UINT64_MAX } };

        CHECK(getrlimit(RLIMIT_NOFILE, &s->descriptors) == 0);
        ends_begin();
        virtual_time.on = true;
        requests.targets = targets_new(base, NULL, &options);
        const struct bus_handler again = { .ctx = &requests, .request = requests_again };
        requests.pending = pending_new(base, requests.targets, NULL, &again);
        CHECK(requests.targets && requests.pending);
        ask_to_add("h", healthy.uri, false);
        loop_for(100 * MS_NS);
}

/* Whatever happened: the rest of the healthy program is read, too. */
static struct numbers session_end(struct session *s)
{
        refusing.every = 0;
        memory_set_budget(UINT64_MAX);
        step_descriptors(s, false);
        healthy_write(SIZE_MAX);
        end_shut(&healthy);
        loop_for(3 * S_NS);
        const struct numbers numbers = healthy_numbers();
        slow_has_all(s);
        (void)silence_store_remove(requests.silences, 0, "*", "*");
        pending_destroy(&requests.pending);
        targets_destroy(&requests.targets);
        loop_for(0);
        virtual_time.on = false;
        ends_over();
        if (!s->new_rules)
                return numbers;
        write_rules(few_rules);
        rulebook_change(&rulebook, rulebook_read(&rulebook, &diagnostics_to_stderr));
        return numbers;
}

static struct numbers session(struct session *s)
{
        session_begin(s);
        for (unsigned i = 0; i < STEPS_MOST && s->left > 0; i++)
                step(s);
        return session_end(s);
}

static void remove_directory(void)
{
        for (unsigned i = 0; i < ENDS; i++)
                (void)unlink(ends[i].path);
        (void)unlink(healthy.path);
        (void)unlink(rules_path);
        (void)rmdir(directory);
}

static void set_up(void)
{
        struct notifier_options options = { .publish_endpoint = "ipc:///fuzz", .log_level = "error" };
        struct error error;
        char pattern[96];

        log_set_level(LOG_ERROR);
        (void)signal(SIGPIPE, SIG_IGN);
        for (unsigned i = 0; i < LOGS; i++)
                read_log(&logs[i], log_paths[i]);
        (void)snprintf(directory, sizeof(directory), "%s/heapwatch-session-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* a session makes a dozen files */
        CHECK(mkdtemp(directory));
        (void)atexit(remove_directory);
        (void)snprintf(rules_path, sizeof(rules_path), "%s/rules.yaml", directory);
        (void)snprintf(pattern, sizeof(pattern), "unix-listen:%s/*", directory);
        write_rules(few_rules);
        virtual_time_spare_alarms();
        virtual_time.on = true;
        options.base = base = event_base_new();
        log_open(); /* its descriptor stays open */
        CHECK(base && event_base_priority_init(base, LOOP_PRIORITIES) == 0);
        CHECK(source_allow_add(&allow, pattern, &error));
        CHECK(rulebook_open(&rulebook, rules_paths, 1, &diagnostics_to_stderr));
        requests = (struct requests){ .rulebook = &rulebook, .allow = &allow, .publish_endpoint = "ipc:///fuzz" };
        requests.silences = silence_store_new(base, NULL);
        requests.notifier = notifier_new(&options);
        CHECK(requests.silences && requests.notifier);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct numbers undisturbed;
        static size_t descriptors;

        if (!base) {
                set_up();
                undisturbed = session(&(struct session){ .left = 0 });
                CHECK(undisturbed.bytes == logs[0].size && undisturbed.events > 100);
                descriptors = open_descriptors();
        }
        struct session s = { .next = data, .left = size };
        const struct numbers numbers = session(&s);
        CHECK(numbers.bytes == undisturbed.bytes);
        if (!s.short_of_memory) {
                CHECK(numbers.events == undisturbed.events && numbers.lost_bytes == undisturbed.lost_bytes);
                CHECK(numbers.state == undisturbed.state);
                CHECK(numbers.hash == undisturbed.hash);
        }
        CHECK(has_closed_all(descriptors));
        return 0;
}
